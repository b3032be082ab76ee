/** Types the commands of a page into a shell, in a folder of its own, and compares what they print with what the page promises. */

import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { cliPath, startCli, type RunningCli } from '../support/run-cli.ts';
import { testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Block, patternOf, readSteps } from './page-blocks.ts';

const root = join(import.meta.dirname, '../..');

export class PageRunner {
  readonly folder: string;
  /** Variables that the commands get, besides PATH and HOME. */
  readonly variables: Record<string, string> = { REKAP_API_KEY: testKey };
  readonly #tools: string;
  /** Ids of the page, and those that this run made instead. */
  readonly #ids = new Map<string, string>();
  /** Addresses of the page, and those that this run uses instead. */
  readonly #addresses = new Map<string, string>();
  /** The services that run, by their addresses on the page. */
  readonly #services = new Map<string, RunningCli>();
  #cwd: string;
  #exitCode = 0;

  private constructor(folder: string, tools: string) {
    this.folder = folder;
    this.#tools = tools;
    this.#cwd = folder;
  }

  /** Makes a folder to work in, and another with the programs `rekap` and `make`, of which the latter knows `make sync` alone. */
  static async open(): Promise<PageRunner> {
    const [folder, tools] = [await temporaryFolder(), await temporaryFolder()];
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

  /** Lets commands use another address than the page's. */
  useAddress(ofPage: string, real: string): void {
    this.#addresses.set(ofPage, real);
  }

  /** Runs the commands of a block and gives their number. A block whose first line names a file is written to that file instead. */
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

  /** Runs a command in the shell, whose stdin holds the key of the source, and gives what a terminal would show. */
  async run(command: string): Promise<string> {
    const state = join(this.#tools, 'cwd');
    const script = `exec 2>&1\n(exit ${this.#exitCode})\n${this.#asHere(command)}\ncode=$?; pwd > '${state}'; exit $code`;
    const env = {
      PATH: `${this.#tools}:${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: this.#tools,
      ...this.variables,
    };
    const printed = await new Promise<string>((resolve) => {
      const child = execFile('bash', ['-c', script], { cwd: this.#cwd, env }, (error, stdout) => {
        this.#exitCode = error === null ? 0 : Number(error.code);
        resolve(withoutLog(stdout));
      });
      // A command that reads no stdin may have ended by now.
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

  /** Ends the service at an address of the page, as Ctrl-C does. */
  async stop(address: string): Promise<void> {
    const service = this.#services.get(address);
    service?.child.kill('SIGINT');
    await service?.ended;
  }

  /** Starts a service on a free port, or again on the port that it had, and gives what it prints. */
  async #serve(command: string): Promise<string> {
    const [line = ''] = command.split(' #');
    const address = `127.0.0.1:${/--port (\d+)/.exec(line)?.[1] ?? '8080'}`;
    await this.stop(address);
    const port = this.#addresses.get(address)?.split(':')[1] ?? '0';
    const words = line
      .replace(/ --port \d+/, '')
      .trim()
      .split(/ +/)
      .slice(1);
    const service = startCli([...words, '--port', port], {}, this.#cwd);
    onTestFinished(() => void service.child.kill('SIGKILL'));
    const printed = await service.printed('Ctrl-C');
    const real = /http:\/\/([^/\s]+)/.exec(printed)?.[1];
    expect(real, `${command}\n${printed}${service.stderr()}`).toBeDefined();
    this.#addresses.set(address, real!);
    this.#services.set(address, service);
    return printed;
  }

  #asHere(command: string): string {
    let text = command.replaceAll('/path/to/rekap', root);
    for (const [ofPage, real] of [...this.#addresses, ...this.#ids]) text = text.replaceAll(ofPage, real);
    return text;
  }

  #compare(command: string, promised: string, printed: string): void {
    let text = printed;
    for (const [ofPage, real] of this.#addresses) text = text.replaceAll(real, ofPage);
    // Pages show once that a command reads rekap.json, and leave it out from then on.
    const named = 'Using options from rekap.json.\n';
    if (!promised.includes(named)) text = text.replace(named, '');
    const { pattern, ids } = patternOf(promised, this.#ids);
    const found = pattern.exec(text.trim().replaceAll(/\s+/g, ' '));
    if (found === null) expect(text, `${command} prints something else`).toBe(promised);
    for (const [index, id] of ids.entries()) this.#ids.set(id, found![index + 1]!);
  }
}

/** A terminal shows a progress line instead of the log, and messages without their time. */
function withoutLog(printed: string): string {
  return printed
    .split('\n')
    .filter((line) => !/^\d{4}-\d\d-\d\dT[\d:]+Z (?!rekap: |Using options )/.test(line))
    .map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:]+Z /, ''))
    .join('\n');
}
