/** Runs the commands of a page in a folder, and compares their output with the page. */

import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { cliPath, startCli, type RunningCli } from '../support/run-cli.ts';
import { testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Block, patternOf, readSteps } from './page-blocks.ts';

const root = join(import.meta.dirname, '../..');

/** Commands that print to stderr after stdout. The others do so before. */
const stderrLast: ReadonlySet<string> = new Set(['query', 'export']);

export class PageRunner {
  readonly folder: string;
  /** Variables that the commands get, besides PATH and HOME. */
  readonly variables: Record<string, string> = { REKAP_API_KEY: testKey };
  readonly #tools: string;
  /** Real ids by the ids of the page. */
  readonly #ids = new Map<string, string>();
  /** Real addresses by the addresses of the page. */
  readonly #addresses = new Map<string, string>();
  /** Running services by their addresses on the page. */
  readonly #services = new Map<string, RunningCli>();
  #cwd: string;
  #exitCode = 0;

  private constructor(folder: string, tools: string) {
    this.folder = folder;
    this.#tools = tools;
    this.#cwd = folder;
  }

  /** Makes another folder with the programs `rekap` and `make`, which knows only `make sync`. */
  static async open(folder: string): Promise<PageRunner> {
    const tools = await temporaryFolder();
    const makefile = await readFile(join(root, 'Makefile'), 'utf8');
    const recipe = /^sync:.*\n\t@\$\(rekap\) (.*)/m.exec(makefile)?.[1] ?? '';
    const programs = {
      rekap: `exec "${process.execPath}" "${cliPath}" "$@"`,
      make: `[ "$*" = sync ] && rekap ${recipe}`,
    };
    for (const [name, script] of Object.entries(programs)) {
      await writeFile(join(tools, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(tools, name), 0o755);
    }
    return new PageRunner(folder, tools);
  }

  /** Replaces an address of the page in commands. */
  useAddress(ofPage: string, real: string): void {
    this.#addresses.set(ofPage, real);
  }

  /** Runs the commands of a block and returns their number. A block whose first line names a file is written to that file. */
  async runBlock(block: Block): Promise<number> {
    const file = /^(?:--|#|\/\/) (\S+\.\w+)\n/.exec(block.content)?.[1];
    if (file !== undefined) await this.#write(file, block.content);
    if (block.language !== 'console' && block.language !== 'sh') return 0;
    const steps = readSteps(block);
    for (const { command, promised } of steps) {
      const isServe = command.startsWith('rekap serve');
      const printed = isServe ? await this.#serve(command) : await this.run(command);
      if (promised !== null) this.#compare(command, promised, printed);
      else if (!isServe) expect(this.#exitCode, `${command}\n${printed}`).toBe(0);
    }
    return steps.length;
  }

  /** Runs a command and returns what a terminal shows. A single rekap command runs in this process, without a shell, to save time. */
  async run(command: string): Promise<string> {
    const text = this.#replaceAddresses(command);
    const env = {
      PATH: `${this.#tools}:${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: this.#tools,
      ...this.variables,
    };
    const words = splitWords(text);
    // The files of `rekap init` name the installed program.
    if (words !== null && words[0] !== 'init') {
      const { code, stdout, stderr } = await runHere(words, env, this.#cwd);
      this.#exitCode = code!;
      return withoutLog(stderrLast.has(words[0]!) ? stdout + stderr : stderr + stdout);
    }
    return this.#runInShell(text, env);
  }

  /** Runs a command in bash, with the key of the source as stdin. */
  async #runInShell(text: string, env: Record<string, string>): Promise<string> {
    const state = join(this.#tools, 'cwd');
    const script = `exec 2>&1\n(exit ${this.#exitCode})\n${text}\ncode=$?; pwd > '${state}'; exit $code`;
    const printed = await new Promise<string>((resolve) => {
      const child = execFile('bash', ['-c', script], { cwd: this.#cwd, env }, (error, stdout) => {
        this.#exitCode = error === null ? 0 : Number(error.code);
        resolve(withoutLog(stdout));
      });
      // A command that does not read stdin may have ended by now.
      child.stdin!.on('error', () => {});
      child.stdin!.end(`${testKey}\n`);
    });
    this.#cwd = (await readFile(state, 'utf8')).trimEnd();
    return printed;
  }

  async #write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.#cwd, path)), { recursive: true });
    await writeFile(join(this.#cwd, path), text);
  }

  /** Stops the service at an address of the page, as Ctrl-C does. */
  async stop(address: string): Promise<void> {
    const service = this.#services.get(address);
    service?.child.kill('SIGINT');
    await service?.ended;
  }

  /** Starts a service on a free port, or again on its earlier port, and returns what it prints. */
  async #serve(command: string): Promise<string> {
    const [line = ''] = command.split(' #');
    const address = `127.0.0.1:${/--port (\d+)/.exec(line)?.[1] ?? '8080'}`;
    await this.stop(address);
    const port = this.#addresses.get(address)?.split(':')[1] ?? '0';
    const words = splitWords(line.replace(/ --port \d+/, ''))!;
    const service = startCli([...words, '--port', port], {}, this.#cwd);
    onTestFinished(() => void service.child.kill('SIGKILL'));
    const printed = await service.printed('Ctrl-C');
    const real = /http:\/\/([^/\s]+)/.exec(printed)?.[1];
    expect(real, `${command}\n${printed}${service.stderr()}`).toBeDefined();
    this.#addresses.set(address, real!);
    this.#services.set(address, service);
    return printed;
  }

  #replaceAddresses(command: string): string {
    let text = command.replaceAll('/path/to/rekap', root);
    for (const [ofPage, real] of [...this.#addresses, ...this.#ids]) text = text.replaceAll(ofPage, real);
    return text;
  }

  #compare(command: string, promised: string, printed: string): void {
    let text = printed;
    for (const [ofPage, real] of this.#addresses) text = text.replaceAll(real, ofPage);
    // Pages show only once that a command reads rekap.json.
    const named = 'Using options from rekap.json.\n';
    if (!promised.includes(named)) text = text.replace(named, '');
    const { pattern, ids } = patternOf(promised, this.#ids);
    const found = pattern.exec(text.trim().replaceAll(/\s+/g, ' '));
    if (found === null) expect(text, command).toBe(promised);
    for (const [index, id] of ids.entries()) this.#ids.set(id, found![index + 1]!);
  }
}

/** Returns the arguments of a single rekap command; null for anything that needs a shell. */
function splitWords(command: string): string[] | null {
  const word = /\s+(?:"([^"$`\\]*)"|'([^']*)'|([\w./:=,@-]+))/y;
  const words: string[] = [];
  const text = command.replace(/\s+(#.*)?$/, '');
  word.lastIndex = 'rekap'.length;
  while (text.startsWith('rekap') && word.lastIndex < text.length) {
    const found = word.exec(text);
    if (found === null) return null;
    words.push(found.slice(1).find((part) => part !== undefined)!);
  }
  return text.startsWith('rekap') ? words : null;
}

/** A terminal shows a progress line instead of the log, and messages without their time. */
function withoutLog(printed: string): string {
  return printed
    .split('\n')
    .filter((line) => !/^\d{4}-\d\d-\d\dT[\d:]+Z (?!rekap: |Using options )/.test(line))
    .map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:]+Z /, ''))
    .join('\n');
}
