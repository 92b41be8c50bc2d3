import { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import { createBodies } from './body.js';
import { systemClock } from './clock.js';
import type { FormBody, FormRules } from './contract/endpoint.js';
import { checkFields, type FormRequest, fieldError, MULTIPART, whileUploading } from './form.js';
import { rejectWhenLate } from './formdeadlines.js';
import type { ParseInWorker } from './input.js';
import { isRecord } from './jsonvalue.js';
import { readRawBody } from './raw.js';

const CAPACITY = 96 * 1024 * 1024;
const bodies = createBodies(CAPACITY);

export const isJsonForm = ({ raw: { req } }: FormRequest, { jsonBytes }: FormRules): boolean =>
  jsonBytes !== undefined && !req.headers['content-type']?.startsWith(MULTIPART);

export const openJsonForm = (
  { payload: source, raw: { req } }: FormRequest,
  rules: FormRules,
  { asker, apart }: { asker: string; apart: ParseInWorker },
): FormBody<unknown> => {
  if (!(source instanceof Readable)) throw new Error('The form body must be a stream');
  return {
    read: (take) =>
      whileUploading(req.socket, async () => {
        const late = rejectWhenLate(source, systemClock);
        const most = rules.jsonBytes ?? 0;
        const held = readRawBody(bodies, { stream: source, most }, async (bytes) => {
          const { file, fields } = await extractFormParts(
            await apart(asker, 'parse', bytes),
            rules,
          );
          const content = Readable.from([file.subarray(0, rules.fileBytes)]);
          const isCut = () => file.length > rules.fileBytes;
          return { files: [await take({ filename: '', content, isCut })], fields };
        });
        held.catch(() => undefined);
        return Promise.race([held, late]);
      }),
  };
};

const extractFormParts = async (
  parsed: Awaited<ReturnType<ParseInWorker>>,
  rules: FormRules,
): Promise<{ file: Buffer; fields: unknown }> => {
  if ('fault' in parsed) throw Boom.badRequest(parsed.fault);
  if (!isRecord(parsed.value))
    throw fieldError(rules.files, 'is required. The body must be a JSON object');
  const { [rules.files]: encoded, ...fields } = parsed.value;
  if (typeof encoded !== 'string') throw fieldError(rules.files, 'is required as a base64 string');
  const file = Buffer.from(encoded, 'base64');
  if (file.length !== computeDecodedLength(encoded))
    throw fieldError(rules.files, 'must be base64');
  return { file, fields: await checkFields(rules, fields) };
};

const computeDecodedLength = (encoded: string): number =>
  Math.floor((encoded.replace(/={1,2}$/, '').length * 3) / 4);
