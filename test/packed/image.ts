/**
 * Carries out the Dockerfile without a container engine: each stage is a folder, and its steps run as a script there. Then it starts what
 * came of it as the image would, as a user who may write to the warehouse alone. What the base image brings is this machine's.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** Of the user that the image names. */
const uid = 1000;

interface Stage {
  readonly root: string;
  folder: string;
  readonly environment: Record<string, string>;
}

const clone = join(import.meta.dirname, '../../..');
const work = await mkdtemp(join(tmpdir(), 'rekap-image-'));
const stages = new Map<string, Stage>();

try {
  await buildAndTry();
} finally {
  await rm(work, { recursive: true, force: true });
}

async function buildAndTry(): Promise<void> {
  const text = await readFile(join(clone, 'Dockerfile'), 'utf8');
  const steps = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  let stage: Stage | null = null;
  const commands: Record<string, readonly string[]> = {};
  for (const step of steps) {
    const [, instruction = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(step) ?? [];
    if (instruction === 'FROM') stage = await beginStage(rest);
    else if (instruction === 'ENTRYPOINT') commands['entry'] = JSON.parse(rest) as string[];
    else if (instruction === 'HEALTHCHECK') commands['health'] = JSON.parse(rest.replace(/^.*?CMD /, '')) as string[];
    else await carryOut(stage!, instruction, rest);
  }
  await tryImage(stage!, commands['entry']![0]!, commands['health']!);
}

async function beginStage(rest: string): Promise<Stage> {
  const [from = '', , name = 'image'] = rest.split(' ');
  const stage: Stage = { root: join(work, name), folder: '/', environment: {} };
  await mkdir(join(stage.root, 'usr/local/bin'), { recursive: true });
  const base = stages.get(from);
  if (base !== undefined) {
    await cp(base.root, stage.root, { recursive: true, verbatimSymlinks: true });
    stage.folder = base.folder;
  }
  stages.set(name, stage);
  return stage;
}

async function carryOut(stage: Stage, instruction: string, rest: string): Promise<void> {
  const inside = (path: string): string => join(stage.root, path.startsWith('/') ? path : join(stage.folder, path));
  if (instruction === 'WORKDIR') {
    stage.folder = rest;
    await mkdir(inside(rest), { recursive: true });
  } else if (instruction === 'COPY') {
    const words = rest.split(/\s+/);
    const from = words[0]!.startsWith('--from=') ? words.shift()!.slice('--from='.length) : null;
    const target = inside(words.pop()!);
    for (const word of words) await copy(from === null ? null : stages.get(from)!, word, target, words.length > 1);
  } else if (instruction === 'ENV') {
    for (const pair of rest.split(' ')) stage.environment[pair.split('=')[0]!] = pair.split('=')[1]!;
  } else if (instruction === 'RUN') {
    // Absolute paths of the image lie below the folder of the stage; "node" is the user of that number.
    const script = rest
      .replaceAll(/(?<=\s)\/(?=rekap|usr|warehouse)/g, `${stage.root}/`)
      .replaceAll('=node', `=${uid}`);
    run('sh', ['-ec', script], inside('.'));
  } else if (!['USER', 'VOLUME', 'EXPOSE', 'CMD'].includes(instruction))
    throw new Error(`The Dockerfile has ${instruction}, which this test does not know.`);
}

/** Of the clone, what .dockerignore names does not come. */
async function copy(from: Stage | null, source: string, target: string, isMany: boolean): Promise<void> {
  const ignored = (await readFile(join(clone, '.dockerignore'), 'utf8')).split('\n');
  const isIgnored = (path: string): boolean =>
    ignored.some((name) => (name !== '' && name === path) || (name.startsWith('*') && path.endsWith(name.slice(1))));
  const root = from?.root ?? clone;
  await cp(join(root, source), isMany ? join(target, source) : target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => from !== null || !isIgnored(relative(clone, path)),
  });
}

function run(program: string, words: readonly string[], folder: string): void {
  const { status } = spawnSync(program, words, { cwd: folder, stdio: ['ignore', 2, 'inherit'] });
  if (status !== 0) throw new Error(`${words.at(-1)} ended with ${status}.`);
}

/** A sync, then the service with its health check; both as another user where this one is root. */
async function tryImage({ root, environment }: Stage, entry: string, health: readonly string[]): Promise<void> {
  const identity = process.getuid?.() === 0 ? { uid, gid: uid } : {};
  spawnSync('chmod', ['755', work]);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const around = {
    cwd: join(root, 'warehouse'),
    env: {
      ...environment,
      PATH: process.env['PATH'],
      REKAP_WAREHOUSE: join(root, 'warehouse'),
      REKAP_PORT: String(port),
    },
    ...identity,
  };
  const program = join(root, 'usr/local/bin', entry);
  const sync = spawnSync(program, ['sync', '--sample'], { ...around, encoding: 'utf8' });
  if (sync.status !== 0) throw new Error(`The sync ended with ${sync.status}: ${sync.stderr}`);
  process.stdout.write(`${sync.stdout.split('\n')[0]}\n`);
  const service = spawn(program, ['serve'], { ...around, env: { ...around.env, REKAP_API_KEYS: 'a-key' } });
  await Promise.race([once(service.stdout, 'data'), once(service, 'exit')]);
  const isHealthy = (): boolean => spawnSync(health[0]!, health.slice(1), around).status === 0;
  const isUp = isHealthy();
  service.kill('SIGTERM');
  await once(service, 'exit');
  if (!isUp || isHealthy()) throw new Error('The health check does not tell whether the service is up.');
  process.stdout.write('The steps of the Dockerfile make an image that syncs, serves, and knows whether it is well.\n');
}
