import type { ServerResponse } from 'node:http';

/** A file that a platform keeps for its apps. */
export interface ServedFile {
  content: string | Buffer;
  /** The name that the platform tells; that of the message unless given. */
  name?: string;
  /** The size that the platform tells; that of the content unless given. */
  size?: number;
  /** The address that the platform tells; its own unless given. */
  url?: string;
  /** Answers the download in another way. */
  answer?: (response: ServerResponse) => void;
}

export const sizeOf = ({ content, size }: ServedFile): number => size ?? Buffer.byteLength(content);

/** Sends the content of a file, in chunks, so that its length is not announced. */
export const serveFile = (response: ServerResponse, { content, answer }: ServedFile): void => {
  if (answer) {
    answer(response);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream' });
  response.write(content);
  response.end();
};
