/** Declares what the SQL files of a project contain, and the sentences that rekap writes in several languages. */

export const languages = ['en', 'id'] as const;
/** A language of reports and messages. */
export type Language = (typeof languages)[number];

/** A sentence by language. Names in braces are filled in. English is required. */
export type Message = { readonly en: string } & Readonly<Partial<Record<Language, string>>>;

/** A view, or a check across tables: a query that returns one row per violation, with columns of `violations`. */
export interface SqlFile {
  readonly name: string;
  readonly sql: string;
  /** The leading comment of the file, which describes the view or the check. */
  readonly comment: string;
  /** Descriptions of the columns in the header of the file. */
  readonly columns: Readonly<Record<string, string>>;
  /** Message of each violation of a check. Without it, the query returns a column `message`. */
  readonly message?: Message;
  /** Keys of a view, as in a Frictionless table schema. */
  readonly keys?: ViewKeys;
  /**
   * 'kept' if a view only selects, filters or unnests the rows of one other view, so that its rows have a fixed order without sorting.
   * Otherwise its rows are sorted by the primary key, or by all columns.
   */
  readonly order?: 'kept';
  /** 'new' if the gate refuses new violations of a check, unless they are accepted. */
  readonly refuse?: 'new';
}

/** Keys of a view, from the header of its SQL file. */
export interface ViewKeys {
  readonly primaryKey: readonly string[];
  readonly foreignKeys?: readonly {
    readonly fields: readonly string[];
    readonly reference: { readonly resource: string; readonly fields: readonly string[] };
  }[];
}
