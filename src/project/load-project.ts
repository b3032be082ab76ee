/** Finds a project and loads it from its files: `rekap.project.*`, its pipelines, views and checks. Only what moves data calls it. */

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

/** A project with what only its files have. */
export interface LoadedProject extends Project {
  /** Of the service, where the project names it. */
  readonly baseUrl: string | null;
  /** Folder with the sample, one JSON file per pipeline. */
  readonly sampleFolder: string;
  /** Module that draws its report; null where it has none of its own. */
  readonly reportModule: string | null;
  /** Of a pipeline, view or check: its file. */
  readonly files: ReadonlyMap<string, SourceFile>;
}

/** A file of a project, for errors that name a line in it. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Lines before the SQL; 0 in other files. */
  readonly headerLines: number;
}

const projectFile = 'rekap.project';
/** Files that may lie beside the pipelines. */
const notPipelines = new Set(['report', 'package', 'package-lock', 'tsconfig', 'rekap']);
const codeEndings = ['.ts', '.js', '.mjs', '.json'];

/** The package finds its own folder by its name, from the sources and from the build alike. */
const packageFolder = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));
/** In the build, code and the files beside it lie in two folders. */
const bundled = {
  folder: join(packageFolder, 'pipelines'),
  code: fileURLToPath(new URL('../../pipelines', import.meta.url)),
};

/**
 * Finds the folder of a project.
 *
 * @param given What --project says; null for the nearest folder above `from` that has a `rekap.project.*`, else the bundled project.
 * @returns Null for the bundled project.
 * @throws `configuration` where the given folder has no project.
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

/** Returns the path of the project's own file in a folder that `findProject` has returned. */
export function projectFileIn(folder: string): string {
  return findCode(folder, projectFile)!;
}

/**
 * Loads a project and checks that its parts agree.
 *
 * @param folder Null for the bundled project.
 * @throws `pipeline-definition` naming file and line of what is wrong.
 */
export async function loadProject(folder: string | null = null): Promise<LoadedProject> {
  const places = folder === null ? bundled : { folder, code: folder };
  const loader = new ProjectLoader(places.folder, places.code);
  return loader.load();
}

/** How a project names the option that chooses partitions; reads its own file alone. */
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
      this.complain(
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
      models: ordered.map(withoutPlace),
      checks: checks.map(withoutPlace),
    };
    if (this.problems.length === 0) for (const problem of findProblems(project)) this.complain(problem, file);
    if (this.problems.length > 0) throw this.refusal();
    return {
      ...project,
      baseUrl: declared.baseUrl ?? null,
      sampleFolder: join(this.folder, declared.sample ?? 'sample'),
      reportModule: findCode(this.code, 'report'),
      files: this.files,
    };
  }

  /** The files in `pipelines/`, or beside the project's own where there is no such folder, that export a pipeline; others are modules of theirs. */
  private async loadPipelines(declared: ProjectDeclaration): Promise<Pipeline[]> {
    const inFolder = join(this.code, 'pipelines');
    const folder = existsSync(inFolder) ? inFolder : this.code;
    const pipelines: Pipeline[] = [];
    for (const name of (await readdir(folder)).toSorted()) {
      const stem = basename(name, extname(name));
      // A name with a further dot, such as eslint.config.js, belongs to a tool.
      if (!codeEndings.includes(extname(name)) || stem.includes('.') || notPipelines.has(stem)) continue;
      const path = join(folder, name);
      const exported = await this.import(path);
      // Beside the project's own file, a JSON array holds partitions or other data.
      if (exported === undefined || (folder === this.code && Array.isArray(exported))) continue;
      const file = await this.read(path);
      const pipeline = this.requireShape(pipelineShape, exported, file);
      if (pipeline === null) continue;
      this.files.set(pipeline.table, file);
      pipelines.push(await this.complete({ watch: [], checks: [], ...pipeline }, declared, file));
    }
    return pipelines;
  }

  /** What a pipeline does not say for itself, its project says. */
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
    const complain = (what: string): void =>
      void this.problems.push({ file: at, near: [file], what: `${path} ${what}` });
    let read: unknown;
    try {
      read = JSON.parse(await readFile(path, 'utf8'));
    } catch (error) {
      complain(`cannot be read: ${error instanceof SyntaxError ? error.message : systemReason(error)}`);
      return { from: 'list', values: [] };
    }
    const found = Array.isArray(read)
      ? read.map((item: unknown) => (item as Record<string, unknown> | null)?.[field])
      : [];
    const values = found.filter((value) => typeof value === 'string' || typeof value === 'number').map(String);
    if (values.length !== found.length || values.length === 0)
      complain(`is not an array of objects that each have the field "${field}"`);
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

  /** What a module exports as default, or what a JSON file holds. */
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

  private complain({ of, near, what }: DeclarationProblem, own: SourceFile): void {
    this.problems.push({ file: (of === null ? undefined : this.files.get(of)) ?? own, near: [near], what });
  }

  private refusal(): RekapError {
    return definitionError(this.problems.map(({ file, near, what }) => `${file.path}:${lineOf(file, near)}: ${what}`));
  }
}

/** One error for everything that is wrong with a project, each on a line that begins with file and line. */
export function definitionError(problems: readonly string[]): RekapError {
  return new RekapError(
    'pipeline-definition',
    problems.length === 1
      ? `The project cannot be used: ${problems[0]}.`
      : ['The project cannot be used:', ...problems.map((problem) => `  - ${problem}`)].join('\n'),
    'Correct the project. "rekap check" checks all of it without a request to the source.',
  );
}

/** The line of the innermost of these names, each of which stands behind the one before it as a word of its own. */
function lineOf({ text }: SourceFile, names: readonly string[]): number {
  let [at, from] = [0, 0];
  // The place in a list is no name.
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

function withoutPlace({ headerLines: _headerLines, ...file }: ReadSqlFile) {
  return file;
}
