/** rekap config: shows all settings of a command, with their values and origins. */

import { declareCommand } from './options/option.ts';
import type { ReadCommand } from './options/read-command.ts';
import { RekapError } from '../errors.ts';
import { hideCredentials } from '../runtime/text.ts';

/** Settings that may be secrets. Their values are not shown. */
const hidden = new Set(['ping-url', 'webhook']);

type Value = string | number | boolean | readonly string[] | null;

function withoutCredentials(value: Value): Value {
  if (typeof value === 'string') return hideCredentials(value);
  return typeof value === 'object' ? (value?.map(hideCredentials) ?? null) : value;
}

export const configCommand = declareCommand({
  positionals: { command: 'command whose settings to show [default: sync]' },
  options: { json: { type: 'boolean', describe: 'print one JSON document instead of text' } },
  examples: [
    ['rekap config', 'the settings of a sync'],
    ['rekap config serve --config rekap.json', 'the settings of another command, with a config file'],
  ],
  async run({ json, ...own }: Readonly<Record<string, unknown>>, [name = 'sync']) {
    const [{ findCommand, readCommand }, { invocation }, { printJson, paint, printable }, { renderTable }] =
      await Promise.all([
        import('./options/read-command.ts'),
        import('./options/invocation.ts'),
        import('./print/terminal.ts'),
        import('./print/table.ts'),
      ]);
    const line = invocation.commandLine!;
    // Ignore required arguments.
    const commands = line.commands.map((each) => ({ ...each, usage: each.name }));
    const entry = findCommand(name.split(' '), commands);
    if (entry === undefined)
      throw new RekapError(
        'usage',
        `Unknown command ${JSON.stringify(name)}.`,
        'For the list of commands, run "rekap --help".',
      );
    const named = ['config', 'profile'].flatMap((option) =>
      typeof own[option] === 'string' ? [`--${option}`, own[option]] : [],
    );
    const { command, options } = (await readCommand([...entry.name.split(' '), ...named], {
      ...line,
      commands,
    })) as ReadCommand;
    const settings = Object.entries(command.options).map(([option, { default: defaultValue }]) => {
      const value = options[option];
      const origin = invocation.origins[option] ?? (defaultValue === undefined ? null : 'default');
      return {
        option,
        value: hidden.has(option) && value !== undefined ? 'set, not shown' : withoutCredentials(value ?? null),
        origin,
      };
    });
    if (json) return printJson(settings);
    const rows = settings.map(({ option, value, origin }) => [
      option,
      value === null ? '–' : printable(Array.isArray(value) ? value.join(', ') : String(value)),
      origin === null ? '' : origin === 'default' ? paint('dim', origin) : origin,
    ]);
    process.stdout.write(`${renderTable(rows, { head: ['option', 'value', 'from'] })}\n`);
  },
});
