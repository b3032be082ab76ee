/** Finds a project and loads it from its files: `rekap.project.*`, pipelines, views and checks. */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, RekapError, systemReason } from '../errors.ts';
import type { PartitionValues, Pipeline, Project, ProjectDeclaration } from './declaration.ts';
import { importModule } from './import-module.ts';
import type { DeclaredPipeline } from './define.ts';
import { findShapeProblems, pipelineShape, projectShape } from './shapes.ts';
import { asCheck, orderModels, type ReadSqlFile, readSqlFile } from './sql-files.ts';
import { type DeclarationProblem, findProblems } from './validate.ts';
import type * as v from 'valibot';

/** A project with the parts that a snapshot doesn't store. */
export interface LoadedProject extends Project {
  readonly baseUrl: string | null;
  readonly sampleFolder: string;
  readonly reportModule: string | null;
  readonly files: ReadonlyMap<string, SourceFile>;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly headerLines: number;
}

const projectFile = 'rekap.project';
const notPipelines = new Set(['report', 'package', 'package-lock', 'tsconfig', 'rekap']);
const codeEndings = ['.ts', '.js', '.mjs', '.json'];

/** Resolved by name, which works in the sources and in the build. */
const packageFolder = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));
const bundled = {
  folder: join(packageFolder, 'pipelines'),
  code: fileURLToPath(new URL('../../pipelines', import.meta.url)),
};

/**
 * Finds the folder of a project.
 *
 * @param given Value of --project; null for `from` or the nearest folder above it with a `rekap.project.*`, or else the bundled project.
 * @returns Null for the bundled project.
 * @throws `configuration` if the given folder has no project.
 */
export function findProject(given: string | null, from: string): string | null {
  if (given !== null) {
    if (findCode(given, projectFile) !== null) return resolve(given);
    throw new RekapError(
      'configuration',
      `${given} is not a project: it has no file ${projectFile}.ts, ${projectFile}.js or ${projectFile}.json.`,
      'Give the folder of a project with --project.',
    );
  }
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (findCode(folder, projectFile) !== null) return folder === bundled.folder ? null : folder;
    if (folder === dirname(folder)) return null;
  }
}

export function projectFileIn(folder: string): string {
  return findCode(folder, projectFile)!;
}

/**
 * Loads a project and checks that its parts agree.
 *
 * @param folder Null for the bundled project.
 * @throws `pipeline-definition` with file and line of each problem.
 */
export async function loadProject(folder: string | null = null): Promise<LoadedProject> {
  const places = folder === null ? bundled : { folder, code: folder };
  return new ProjectLoader(places.folder, places.code).load();
}

/** Reads the name of the option that selects partitions. Loads only `rekap.project.*`. */
export async function readPartitionOption(folder: string | null): Promise<string> {
  const path = findCode(folder ?? bundled.code, projectFile)!;
  const declared = path.endsWith('.json')
    ? (JSON.parse(await readFile(path, 'utf8')) as unknown)
    : ((await importModule(path)) as { readonly default?: unknown }).default;
  return findShapeProblems(projectShape, declared).length === 0
    ? ((declared as ProjectDeclaration).partitionOption ?? defaultPartitionOption)
    : defaultPartitionOption;
}

const defaultPartitionOption = 'partition';

class ProjectLoader {
  private readonly folder: string;
  private readonly code: string;
  private readonly files = new Map<string, SourceFile>();
  private readonly problems: {
    readonly file: SourceFile;
    readonly near: readonly string[];
    readonly what: string;
  }[] = [];

  constructor(folder: string, code: string) {
    this.folder = folder;
    this.code = code;
  }

  async load(): Promise<LoadedProject> {
    const path = findCode(this.code, projectFile)!;
    const file = await this.read(path);
    const declared = this.requireShape(projectShape, await this.import(path), file);
    if (declared === null) throw this.refusal();
    const pipelines = await this.loadPipelines(declared);
    const values = declared.values ?? {};
    const models = await this.readSqlFiles('models', values);
    const checks = (await this.readSqlFiles('checks', values)).map(asCheck);
    const { ordered, circle } = orderModels(models);
    for (const { name } of circle)
      this.addProblem(
        { of: name, near: '', what: `the views ${circle.map((model) => model.name).join(', ')} read each other` },
        file,
      );
    const project: Project = {
      name: declared.name,
      title: declared.title,
      description: declared.description ?? declared.title,
      auth: declared.auth ?? null,
      partitionOption: declared.partitionOption ?? defaultPartitionOption,
      examples: declared.examples ?? pipelines.map(({ table }) => `FROM ${table} LIMIT 10;`),
      pipelines,
      models: ordered.map(withoutHeaderLines),
      checks: checks.map(withoutHeaderLines),
    };
    if (this.problems.length === 0) for (const problem of findProblems(project)) this.addProblem(problem, file);
    if (this.problems.length > 0) throw this.refusal();
    return {
      ...project,
      baseUrl: declared.baseUrl ?? null,
      sampleFolder: join(this.folder, declared.sample ?? 'sample'),
      reportModule: findCode(this.code, 'report'),
      files: this.files,
    };
  }

  /** Loads the files in `pipelines/`, or next to `rekap.project.*` without that folder. Ignores modules without a default export. */
  private async loadPipelines(declared: ProjectDeclaration): Promise<Pipeline[]> {
    const inFolder = join(this.code, 'pipelines');
    const folder = existsSync(inFolder) ? inFolder : this.code;
    const pipelines: Pipeline[] = [];
    for (const name of (await readdir(folder)).toSorted()) {
      const stem = basename(name, extname(name));
      // A name with two dots, such as eslint.config.js, belongs to a tool.
      if (!codeEndings.includes(extname(name)) || stem.includes('.') || notPipelines.has(stem)) continue;
      const path = join(folder, name);
      const exported = await this.import(path);
      // Next to `rekap.project.*`, a JSON array contains partitions or other data.
      if (exported === undefined || (folder === this.code && Array.isArray(exported))) continue;
      const file = await this.read(path);
      const pipeline = this.requireShape(pipelineShape, exported, file);
      if (pipeline === null) continue;
      this.files.set(pipeline.table, file);
      pipelines.push(await this.complete({ watch: [], checks: [], ...pipeline }, declared, file));
    }
    return pipelines;
  }

  private async complete(
    { partition, ...pipeline }: DeclaredPipeline,
    { paging, format = 'json', records = '', reportedCount }: ProjectDeclaration,
    file: SourceFile,
  ): Promise<Pipeline> {
    const values = partition?.values;
    return {
      paging,
      format,
      records,
      ...(reportedCount !== undefined && { reportedCount }),
      ...pipeline,
      ...(partition !== undefined && {
        partition: values?.from === 'file' ? { ...partition, values: await this.readValues(values, file) } : partition,
      }),
    };
  }

  private async readValues(
    { file, field }: Extract<PartitionValues, { from: 'file' }>,
    at: SourceFile,
  ): Promise<PartitionValues> {
    const path = join(this.folder, file);
    const addFileProblem = (what: string): void =>
      void this.problems.push({ file: at, near: [file], what: `${path} ${what}` });
    let read: unknown;
    try {
      read = JSON.parse(await readFile(path, 'utf8'));
    } catch (error) {
      addFileProblem(`cannot be read: ${error instanceof SyntaxError ? error.message : systemReason(error)}`);
      return { from: 'list', values: [] };
    }
    const found = Array.isArray(read)
      ? read.map((item: unknown) => (item as Record<string, unknown> | null)?.[field])
      : [];
    const values = found.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
    if (values.length !== found.length || values.length === 0)
      addFileProblem(`is not an array of objects that each have the field "${field}"`);
    return { from: 'list', values };
  }

  private async readSqlFiles(
    folder: string,
    values: NonNullable<ProjectDeclaration['values']>,
  ): Promise<ReadSqlFile[]> {
    const path = join(this.folder, folder);
    const names = existsSync(path) ? (await readdir(path)).filter((name) => name.endsWith('.sql')).toSorted() : [];
    return Promise.all(
      names.map(async (name) => {
        const file = await this.read(join(path, name));
        const read = readSqlFile(basename(name, '.sql'), file.text, values);
        this.files.set(read.name, { ...file, headerLines: read.headerLines });
        return read;
      }),
    );
  }

  private async read(path: string): Promise<SourceFile> {
    const text = await readFile(path, 'utf8');
    return { path: relative(this.folder, path), text, headerLines: 0 };
  }

  /** Returns the default export of a module, or the content of a JSON file. */
  private async import(path: string): Promise<unknown> {
    try {
      if (path.endsWith('.json')) return JSON.parse(await readFile(path, 'utf8'));
      return ((await importModule(path)) as { readonly default?: unknown }).default;
    } catch (error) {
      const { path: shown } = await this.read(path);
      const [what = '', ...rest] = messageOf(error).split('\n');
      const [, line] = /:(\d+):\d+\b/.exec(rest.join('\n')) ?? [];
      throw new RekapError(
        'pipeline-definition',
        `${shown}${line === undefined ? '' : `:${line}`} cannot be loaded: ${what.trim()}.`,
        'Correct the file.',
        { cause: error },
      );
    }
  }

  private requireShape<Value>(shape: v.GenericSchema<unknown, Value>, value: unknown, file: SourceFile): Value | null {
    const problems = findShapeProblems(shape, value);
    for (const { where, what } of problems)
      this.problems.push({ file, near: where, what: `${where.join('.') || 'the default export'} ${what}` });
    return problems.length === 0 ? (value as Value) : null;
  }

  private addProblem({ of, near, what }: DeclarationProblem, own: SourceFile): void {
    this.problems.push({ file: (of === null ? undefined : this.files.get(of)) ?? own, near: [near], what });
  }

  private refusal(): RekapError {
    return definitionError(this.problems.map(({ file, near, what }) => `${file.path}:${lineOf(file, near)}: ${what}`));
  }
}

/** Returns one error for all problems of a project, each on a line that starts with file and line. */
export function definitionError(problems: readonly string[]): RekapError {
  return new RekapError(
    'pipeline-definition',
    problems.length === 1
      ? `The project cannot be used: ${problems[0]}.`
      : ['The project cannot be used:', ...problems.map((problem) => `  - ${problem}`)].join('\n'),
    'Correct the project. To check all of it without requests to the source, run "rekap check".',
  );
}

/** Returns the line of the last of these names, each searched as a word after the previous one. */
function lineOf({ text }: SourceFile, names: readonly string[]): number {
  let [at, from] = [0, 0];
  for (const name of names.filter((part) => !/^\d*$/.test(part))) {
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const found = text.slice(from).search(new RegExp(`(?<!\\w)${escaped}(?!\\w)`));
    if (found < 0) continue;
    at = from + found;
    from = at + name.length;
  }
  return text.slice(0, at).split('\n').length;
}

function findCode(folder: string, stem: string): string | null {
  const path = codeEndings.map((ending) => join(folder, stem + ending)).find((file) => existsSync(file));
  return path ?? null;
}

function withoutHeaderLines({ headerLines: _headerLines, ...file }: ReadSqlFile) {
  return file;
}
