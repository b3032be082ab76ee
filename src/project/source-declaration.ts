/** Declares the types of a source: how its lists are requested, paged, and split into partitions. */

/**
 * Describes how a list is paged. Names are those of query parameters, of parts of the path in braces, or JSON pointers into the body of a POST.
 * `hasMore` is a JSON pointer to a flag that is true on every page that another one follows, and false on the last. `ignores` lists places that look as if there were more records: JSON pointers, or names of
 * headers. `first` is the number of the first page or record. With `step: 'size'`, `page` counts records, not pages: it is a multiple of the
 * size. `after` requests the records after one whose `field` has the value of `parameter`.
 */
export type Paging = (
  | { readonly by: 'offset'; readonly limit: string; readonly offset: string; readonly first?: 0 | 1 }
  | { readonly by: 'after'; readonly field: string; readonly parameter: string; readonly size?: string }
  | {
      readonly by: 'page';
      readonly page: string;
      readonly size?: string;
      readonly first?: 0 | 1;
      readonly step?: 'size';
    }
  | ({ readonly by: 'next'; readonly size?: string; readonly allow?: readonly AllowedOrigin[] } & NextPage)
  | { readonly by: 'none' }
) & { readonly hasMore?: string; readonly ignores?: readonly string[] };

/** Another origin that a next page may have, such as https://cdn.example. The key is sent there only if `withKey` is true. */
export type AllowedOrigin = string | { readonly origin: string; readonly withKey: true };

/**
 * Describes where a response names the next page: a URL or a cursor at a JSON pointer, the URL of the link with this `rel` in a list of links, a
 * cursor in a header, or the header `Link` with rel="next".
 */
export type NextPage =
  | { readonly url: string | { readonly rel: string; readonly in: string } }
  | { readonly cursor: string | { readonly header: string }; readonly parameter: string }
  | { readonly link: true };

/** Describes where tokens for the client credentials of OAuth 2 come from. It may have another origin than the source. */
export interface OAuth2 {
  readonly tokenUrl: string;
  readonly scope?: string;
  readonly audience?: string;
}

/** Describes how a request sends the API key. `query` is also the name of its place in a path, such as `{key}`. With `oauth2`, the key is `id:secret` of a client, or a token. `prefix`, such as `Token `, precedes it in the header. The key comes from REKAP_API_KEY, --api-key-file, or the environment variable `variable`. */
export type Auth = (
  | { readonly header: string; readonly prefix?: string }
  | { readonly bearer: true }
  | { readonly basic: true }
  | { readonly query: string }
  | { readonly oauth2: OAuth2 }
) & { readonly variable?: string };

/** Lists the partitions, or says where to read them. */
export type PartitionValues =
  | { readonly from: 'list'; readonly values: readonly string[] }
  /** A JSON file with an array of objects. */
  | { readonly from: 'file'; readonly file: string; readonly field: string }
  /** Another endpoint, whose list is proved complete first. */
  | {
      readonly from: 'endpoint';
      readonly path: string;
      readonly field: string;
      readonly records?: string;
      readonly paging?: Paging;
    }
  /** A column of another pipeline, written `table.column`. That pipeline is proved complete first. */
  | { readonly from: 'pipeline'; readonly column: string };

/** One parameter of a filter. */
export interface PartitionParameter<Column extends string = string> {
  /** The query parameter, a part of the path in braces, or a JSON pointer into the body. */
  readonly parameter: string;
  /** The column with the value of the parameter: text or integer, and part of the key. */
  readonly column: Column;
  readonly values?: PartitionValues;
}

/**
 * Describes how a sync reads only the records that changed. `cursor` is a column that grows with every change: a timestamp, a date, or with
 * paging `after` the column of its field. `parameter` filters by it, and takes values as the source writes them. A window starts `lookback`
 * (ISO 8601, such as PT1H) before the newest known value, and must contain all rows that are known there. The whole list is read every
 * `wholeEvery`, because a window shows no deletions.
 */
export interface Incremental<Column extends string = string> {
  readonly cursor: Column;
  readonly parameter?: string;
  readonly lookback?: string;
  readonly wholeEvery: string;
}

/** Describes when a partition doesn't change any more: `after` (ISO 8601) the end of the year, month or day that `column` names. */
export interface ClosedPartitions<Column extends string = string> {
  readonly after: string;
  readonly column: Column;
}

/**
 * Describes the filter that splits a list into partitions, each of which is proved complete separately. With `and`, every combination of the
 * values is a partition, and its name is the values with slashes between them, such as 2024/31.
 */
export interface Partition<Column extends string = string> extends PartitionParameter<Column> {
  /** A text column with the name of the partition, which messages show beside its value. */
  readonly name?: string;
  /** If missing, the list without the filter names the partitions. */
  readonly values?: PartitionValues;
  /** Further parameters of the filter. Then every one has `values`. */
  readonly and?: readonly PartitionParameter<Column>[];
  /** Closed partitions are carried over. Each sync reads three of them again, each day others. */
  readonly closed?: ClosedPartitions<Column>;
}

/** Settings that apply to all pipelines of a project. A pipeline can override them. */
export interface SourceSettings {
  readonly paging: Paging;
  /**
   * `json` is one document per response, `ndjson` one record per line, `csv` a table with a row of names, and `rows` a JSON array of arrays, the
   * first of which has the names.
   */
  readonly format: 'json' | 'ndjson' | 'csv' | 'rows';
  /** Separator of CSV values. Default: a comma. */
  readonly delimiter?: ',' | ';' | '\t' | '|';
  /** JSON pointer to the records: an array, an object of records by key, or one record. '' is the whole response. */
  readonly records: string;
  /** JSON pointer to the number of records that the response reports. It proves nothing alone, but can show that records are missing. */
  readonly reportedCount?: string;
  /** Headers of every request: their values, or the environment variables with a secret. */
  readonly headers?: Readonly<Record<string, string | { readonly variable: string }>>;
}

/** A request with a body. The list is only read, so the request is retried and repeated like a GET. */
export interface PostRequest {
  readonly method: 'POST';
  /** JSON. Parameters that are JSON pointers replace values in it. */
  readonly body: Readonly<Record<string, unknown>>;
}
