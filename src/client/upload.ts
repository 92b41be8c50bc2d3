import { randomUUID } from 'node:crypto';
import type { Client, Reply } from './client.js';

export interface FileToUpload {
  filename: string;
  content: Uint8Array;
}

export interface UploadFields {
  tags?: string[];
  language?: string;
}

const TIMEOUT_MS = 15 * 60_000;

export const uploadDocuments = async (
  client: Pick<Client, 'request'>,
  files: FileToUpload[],
  { tags = [], language }: UploadFields,
): Promise<Reply<'documents', 'upload'>> => {
  const fields = tags.map((tag): FormText => ['tags', tag]);
  if (language !== undefined) fields.push(['language', language]);
  return sendForm(client, '/api/documents/upload', { fields, name: 'files', files });
};

export interface AudioFields {
  language?: string;
  model?: string;
  prompt?: string;
}

export const uploadAudio = (
  client: Pick<Client, 'request'>,
  file: FileToUpload,
  given: AudioFields,
): Promise<Reply<'voice', 'transcribe'>> => {
  const fields = Object.entries(given).filter(([, value]) => value !== undefined);
  const form = { fields, name: 'audio', files: [file] };
  return sendForm(client, '/api/voice/transcribe?wait=0', form);
};

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
    body: buildMultipartBody(boundary, form),
    timeoutMs: TIMEOUT_MS,
  });
  return body;
};

type FormText = [name: string, value: string];

/** RFC 7578. */
const buildMultipartBody = (boundary: string, { fields, name: field, files }: ClientForm): Buffer =>
  Buffer.concat([
    ...fields.map(([name, value]) =>
      Buffer.from(`${buildPartHeader(boundary, `name="${name}"`)}\r\n${value}\r\n`),
    ),
    ...files.flatMap(({ filename, content }) => [
      Buffer.from(
        `${buildPartHeader(boundary, `name="${field}"; filename="${quoted(filename)}"`)}Content-Type: application/octet-stream\r\n\r\n`,
      ),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const buildPartHeader = (boundary: string, disposition: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;

/** As browsers do (WHATWG HTML, multipart form data). */
const quoted = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
