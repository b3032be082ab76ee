/** Sends requests that contain a token or a credential. */

/** A response of the catalog, or of the endpoint that returns tokens. */
export interface CatalogResponse {
  readonly status: number;
  readonly text: string;
}

/** Sends a request, and reads its response. Throws the cause of a failed connection. Follows no redirect, which could send a secret elsewhere. */
export async function exchange(url: string, request: RequestInit): Promise<CatalogResponse> {
  try {
    const response = await fetch(url, { ...request, redirect: 'error' });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
  }
}
