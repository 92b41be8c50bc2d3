import type { ServerResponse } from 'node:http';

/** A file stored by a platform. */
export interface ServedFile {
  content: string | Buffer;
  name?: string;
  /** Reported media type. Defaults to text. */
  mime?: string;
  size?: number;
  /** Reported address. Defaults to its own. */
  url?: string;
  /** Replaces the reply to the download. */
  answer?: (response: ServerResponse) => void;
}

export const sizeOf = ({ content, size }: ServedFile): number => size ?? Buffer.byteLength(content);

/** Chunked, so that the length is not announced. */
export const serveFile = (response: ServerResponse, { content, answer }: ServedFile): void => {
  if (answer) {
    answer(response);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  response.write(content);
  response.end();
};
