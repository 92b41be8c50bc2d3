import { randomUUID } from 'node:crypto';
import type { Client, Reply } from './client.js';

/** A file to upload, in memory. */
export interface FileToUpload {
  filename: string;
  content: Uint8Array;
}

/** The text fields of an upload. */
export interface UploadFields {
  tags?: string[];
  language?: string;
}

/** The slowest upload that is waited for, in milliseconds. */
const TIMEOUT_MS = 15 * 60_000;

/** Uploads files as one form. Throws as every call of the client. */
export const uploadDocuments = async (
  client: Pick<Client, 'request'>,
  files: FileToUpload[],
  { tags = [], language }: UploadFields,
): Promise<Reply<'documents', 'upload'>> => {
  const boundary = randomUUID();
  const fields = tags.map((tag): FormText => ['tags', tag]);
  if (language !== undefined) fields.push(['language', language]);
  const { body } = await client.request<Reply<'documents', 'upload'>>({
    method: 'POST',
    path: '/api/documents/upload',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: multipartOf(boundary, fields, files),
    timeoutMs: TIMEOUT_MS,
  });
  return body;
};

type FormText = [name: string, value: string];

/** Returns a multipart body (RFC 7578). */
const multipartOf = (boundary: string, fields: FormText[], files: FileToUpload[]): Buffer =>
  Buffer.concat([
    ...fields.map(([name, value]) =>
      Buffer.from(`${headOf(boundary, `name="${name}"`)}\r\n${value}\r\n`),
    ),
    ...files.flatMap(({ filename, content }) => [
      Buffer.from(
        `${headOf(boundary, `name="files"; filename="${quoted(filename)}"`)}Content-Type: application/octet-stream\r\n\r\n`,
      ),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const headOf = (boundary: string, disposition: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;

/** Escapes a name as browsers do (WHATWG HTML, multipart form data). */
const quoted = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
