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
  const fields = tags.map((tag): FormText => ['tags', tag]);
  if (language !== undefined) fields.push(['language', language]);
  return sendForm(client, '/api/documents/upload', { fields, name: 'files', files });
};

/** The text fields of audio. */
export interface AudioFields {
  language?: string;
  model?: string;
  prompt?: string;
}

/** Sends audio to be transcribed, and does not wait for that. Throws as every call of the client. */
export const uploadAudio = (
  client: Pick<Client, 'request'>,
  file: FileToUpload,
  given: AudioFields,
): Promise<Reply<'voice', 'transcribe'>> => {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  const form = { fields, name: 'audio', files: [file] };
  return sendForm(client, '/api/voice/transcribe?wait=0', form);
};

/** Files under one name, and text fields beside them. */
interface ClientForm {
  fields: FormText[];
  name: string;
  files: FileToUpload[];
}

const sendForm = async <T>(
  client: Pick<Client, 'request'>,
  path: string,
  form: ClientForm,
): Promise<T> => {
  const boundary = randomUUID();
  const { body } = await client.request<T>({
    method: 'POST',
    path,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: multipartOf(boundary, form),
    timeoutMs: TIMEOUT_MS,
  });
  return body;
};

type FormText = [name: string, value: string];

/** Returns a multipart body (RFC 7578). */
const multipartOf = (boundary: string, { fields, name: field, files }: ClientForm): Buffer =>
  Buffer.concat([
    ...fields.map(([name, value]) =>
      Buffer.from(`${headOf(boundary, `name="${name}"`)}\r\n${value}\r\n`),
    ),
    ...files.flatMap(({ filename, content }) => [
      Buffer.from(
        `${headOf(boundary, `name="${field}"; filename="${quoted(filename)}"`)}Content-Type: application/octet-stream\r\n\r\n`,
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
