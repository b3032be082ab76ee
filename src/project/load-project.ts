/** Loads a project from its files: `rekap.project.*`, pipelines, views and checks. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { systemReason } from '../errors.ts';
import { childTables, findChildProblems } from './child-tables.ts';
import type {
  DeclaredPipeline,
  PartitionParameter,
  PartitionValues,
  Pipeline,
  Project,
  ProjectDeclaration,
} from './declaration.ts';
import { commentOn } from './field-path.ts';
import { declarationError, type LocatedProblem, type SourceFile } from './declaration-error.ts';
import { bundledProject, findCode, findProject, importDefault, projectFile } from './find-project.ts';
import { importError } from './import-module.ts';
import { listPipelineFiles, listSqlFiles } from './project-files.ts';
import { findShapeProblems } from './shape-problems.ts';
import { pipelineShape, projectShape, reportShape } from './shapes.ts';
import { asCheck, orderModels, type ReadSqlFile, readSqlFile } from './sql-files.ts';
import { findProblems } from './validate.ts';
import type { DeclarationProblem } from './validate-names.ts';
import type * as v from 'valibot';

/** A project with the parts that a snapshot doesn't store. */
export interface LoadedProject extends Project {
  readonly baseUrl: string | null;
  readonly sampleFolder: string;
  readonly reportModule: string | null;
  readonly files: ReadonlyMap<string, SourceFile>;
}

/**
 * Loads a project and checks that its parts agree.
 *
 * @param project Its folder; a declaration with its pipelines; null for the bundled project.
 * @throws `configuration` if the folder has no project; `pipeline-definition` with file and line of each problem.
 */
export async function loadProject(project: string | ProjectDeclaration | null = null): Promise<LoadedProject> {
  if (typeof project === 'object' && project !== null) return new ProjectLoader('.', null).load(project);
  if (project === null) return new ProjectLoader(bundledProject.folder, bundledProject.code).load();
  const folder = findProject(project, project)!;
  return new ProjectLoader(folder, folder).load();
}

class ProjectLoader {
  private readonly folder: string;
  /** Folder of the code; null for a declaration without files. */
  private readonly code: string | null;
  private readonly files = new Map<string, SourceFile>();
  private readonly problems: LocatedProblem[] = [];

  constructor(folder: string, code: string | null) {
    this.folder = folder;
    this.code = code;
  }

  async load(given?: ProjectDeclaration): Promise<LoadedProject> {
    const path = this.code === null ? null : findCode(this.code, projectFile)!;
    const file =
      path === null ? { path: given?.name ?? 'the project', text: '', headerLines: 0 } : await this.read(path);
    const declared = this.requireShape(projectShape, path === null ? given : await this.import(path), file);
    if (declared === null) throw declarationError(this.problems);
    const found = await this.findPipelines(declared, file);
    const pipelines = await Promise.all(found.map((one) => this.withDefaults(one.pipeline, declared, one.file)));
    const children = this.problems.length > 0 ? [] : found.map((one) => childTables(one.pipeline));
    this.files.set('workbook', file);
    const values = declared.values ?? {};
    const models = await this.readSqlFiles('models', values);
    const checks = [
      ...children.flatMap((child) => child.checks),
      ...(await this.readSqlFiles('checks', values)).map(asCheck).map(withoutHeaderLines),
    ];
    const { ordered, circle } = orderModels(models);
    for (const { name } of circle)
      this.addProblem(
        { of: name, near: '', what: `the views ${circle.map((model) => model.name).join(', ')} read each other` },
        file,
      );
    const { title = declared.name } = declared;
    const reportModule = this.code === null ? null : findCode(this.code, 'report');
    const project: Project = {
      name: declared.name,
      title,
      description: declared.description ?? title,
      auth: declared.auth ?? null,
      examples: declared.examples ?? pipelines.map(({ table }) => `FROM ${table} LIMIT 10;`),
      pipelines,
      models: [...children.flatMap((child) => child.models), ...ordered.map(withoutHeaderLines)],
      checks,
      ...(await this.readReport(reportModule)),
      ...(declared.workbook !== undefined && { workbook: declared.workbook }),
      ...(declared.sampleNotice !== undefined && { sampleNotice: declared.sampleNotice }),
    };
    if (this.problems.length === 0) for (const problem of findProblems(project)) this.addProblem(problem, file);
    if (this.problems.length > 0) throw declarationError(this.problems);
    return {
      ...project,
      baseUrl: declared.baseUrl ?? null,
      sampleFolder: join(this.folder, declared.sample ?? 'sample'),
      reportModule: project.report === undefined ? reportModule : null,
      files: this.files,
    };
  }

  private async findPipelines(declared: ProjectDeclaration, file: SourceFile) {
    const found = [
      ...(declared.pipelines ?? []).map((pipeline) => ({ pipeline, file })),
      ...(await this.readPipelines(declared.pipelines === undefined)),
    ];
    for (const { pipeline, file: own } of found) {
      this.files.set(pipeline.table, own);
      for (const name of Object.keys(pipeline.children ?? {})) this.files.set(name, own).set(`${name}_items`, own);
      for (const [near, what] of findChildProblems(pipeline)) this.addProblem({ of: pipeline.table, near, what }, own);
    }
    return found;
  }

  /**
   * Reads the files in `pipelines/`. Without that folder, reads the files next to `rekap.project.*`, unless it declares its pipelines itself.
   * Ignores modules without a default export.
   */
  private async readPipelines(isFlat: boolean): Promise<{ pipeline: DeclaredPipeline; file: SourceFile }[]> {
    if (this.code === null) return [];
    if (!existsSync(join(this.code, 'pipelines')) && !isFlat) return [];
    const found: { pipeline: DeclaredPipeline; file: SourceFile }[] = [];
    for (const path of await listPipelineFiles(this.code)) {
      const exported = await this.import(path);
      // Next to `rekap.project.*`, a JSON array contains partitions or other data.
      if (exported === undefined || (dirname(path) === this.code && Array.isArray(exported))) continue;
      const file = await this.read(path);
      const pipeline = this.requireShape(pipelineShape, exported, file);
      if (pipeline !== null) found.push({ pipeline, file });
    }
    return found;
  }

  private async withDefaults(
    { children: _children, ...pipeline }: DeclaredPipeline,
    declared: ProjectDeclaration,
    file: SourceFile,
  ): Promise<Pipeline> {
    const { partition, title = titleOf(pipeline.table), comment = title, paging = declared.paging } = pipeline;
    const { format = 'json', records = '', reportedCount } = declared;
    if (paging === undefined)
      this.problems.push({
        file,
        at: ['table', pipeline.table],
        of: pipeline.table,
        what: `the pipeline "${pipeline.table}" has no paging; declare it here or in the project, such as paging: { by: 'none' }`,
      });
    const columns = Object.entries(pipeline.columns).map(([name, column]) => [
      name,
      { ...column, comment: column.comment ?? commentOn(column.field) },
    ]);
    // A list without an envelope has no count.
    const hasEnvelope = (pipeline.format ?? format) === 'json' && (pipeline.records ?? records) !== '';
    return {
      format,
      records,
      ...(declared.delimiter !== undefined && { delimiter: declared.delimiter }),
      ...(hasEnvelope && reportedCount !== undefined && { reportedCount }),
      watch: [],
      checks: [],
      ...pipeline,
      ...((declared.headers ?? pipeline.headers) !== undefined && {
        headers: { ...declared.headers, ...pipeline.headers },
      }),
      title,
      comment,
      paging: paging ?? { by: 'none' },
      columns: Object.fromEntries(columns) as Pipeline['columns'],
      ...(partition !== undefined && { partition: await this.readPartition(partition, file) }),
    };
  }

  /** Reads the sections of `report.*`. A module that draws a whole page exports `drawReport` instead. */
  private async readReport(path: string | null): Promise<Pick<Project, 'report'>> {
    if (path === null) return {};
    const exported = await this.import(path);
    if (exported === undefined) return {};
    const file = await this.read(path);
    this.files.set('report', file);
    const report = this.requireShape(reportShape, exported, file);
    return report === null ? {} : { report };
  }

  private async readPartition<Type extends PartitionParameter & { readonly and?: readonly PartitionParameter[] }>(
    parameter: Type,
    file: SourceFile,
  ): Promise<Type> {
    const { values, and } = parameter;
    return {
      ...parameter,
      ...(values?.from === 'file' && { values: await this.readValues(values, file) }),
      ...(and !== undefined && { and: await Promise.all(and.map((one) => this.readPartition(one, file))) }),
    };
  }

  private async readValues(
    { file, field }: Extract<PartitionValues, { from: 'file' }>,
    own: SourceFile,
  ): Promise<PartitionValues> {
    const path = join(this.folder, file);
    const addFileProblem = (what: string): void =>
      void this.problems.push({ file: own, at: [file], what: `${path} ${what}` });
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
    const paths = this.code === null ? [] : await listSqlFiles(join(this.folder, folder));
    return Promise.all(
      paths.map(async (path) => {
        const file = await this.read(path);
        const read = readSqlFile(basename(path, '.sql'), file.text, values);
        this.files.set(read.name, { ...file, headerLines: read.headerLines });
        return read;
      }),
    );
  }

  private async read(path: string): Promise<SourceFile> {
    const text = await readFile(path, 'utf8');
    return { path: relative(this.folder, path), text, headerLines: 0 };
  }

  private async import(path: string): Promise<unknown> {
    try {
      return await importDefault(path);
    } catch (error) {
      throw importError(error, path, this.folder);
    }
  }

  private requireShape<Value>(shape: v.GenericSchema<unknown, Value>, value: unknown, file: SourceFile): Value | null {
    const problems = findShapeProblems(shape, value);
    for (const { where, what, of } of problems)
      this.problems.push({ file, at: where, of, what: `${where.join('.') || 'the default export'} ${what}` });
    return problems.length === 0 ? (value as Value) : null;
  }

  private addProblem({ of, near, what }: DeclarationProblem, own: SourceFile): void {
    this.problems.push({ file: (of === null ? undefined : this.files.get(of)) ?? own, at: [near], of, what });
  }
}

function titleOf(table: string): string {
  return table.charAt(0).toUpperCase() + table.slice(1).replaceAll('_', ' ');
}

function withoutHeaderLines({ headerLines: _headerLines, ...file }: ReadSqlFile) {
  return file;
}
