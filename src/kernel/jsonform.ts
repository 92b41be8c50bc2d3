import { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import { createBodies } from './body.js';
import type { FormBody, FormRules } from './contract/endpoint.js';
import { checkFields, type FormRequest, faulty, MULTIPART, whileUploading } from './form.js';
import { lateness, PACE } from './formpace.js';
import type { ParseApart } from './input.js';
import { isRecord } from './jsonvalue.js';
import { holdRaw } from './raw.js';

const CAPACITY = 96 * 1024 * 1024;
const bodies = createBodies(CAPACITY);

export const isJsonForm = ({ raw: { req } }: FormRequest, { jsonBytes }: FormRules): boolean =>
  jsonBytes !== undefined && !req.headers['content-type']?.startsWith(MULTIPART);

export const openJsonForm = (
  { payload: source, raw: { req } }: FormRequest,
  rules: FormRules,
  { asker, apart }: { asker: string; apart: ParseApart },
): FormBody<unknown> => {
  if (!(source instanceof Readable)) throw new Error('The form body must be a stream');
  return {
    read: (take) =>
      whileUploading(req.socket, async () => {
        const late = lateness(source, PACE);
        const most = rules.jsonBytes ?? 0;
        const held = holdRaw(bodies, { stream: source, most }, async (bytes) => {
          const { file, fields } = await partsOf(await apart(asker, 'parse', bytes), rules);
          const content = Readable.from([file.subarray(0, rules.fileBytes)]);
          const isCut = () => file.length > rules.fileBytes;
          return { files: [await take({ filename: '', content, isCut })], fields };
        });
        held.catch(() => undefined);
        return Promise.race([held, late]);
      }),
  };
};

const partsOf = async (
  parsed: Awaited<ReturnType<ParseApart>>,
  rules: FormRules,
): Promise<{ file: Buffer; fields: unknown }> => {
  if ('fault' in parsed) throw Boom.badRequest(parsed.fault);
  if (!isRecord(parsed.value))
    throw faulty(rules.files, 'is required. The body must be a JSON object');
  const { [rules.files]: encoded, ...fields } = parsed.value;
  if (typeof encoded !== 'string') throw faulty(rules.files, 'is required as a base64 string');
  const file = Buffer.from(encoded, 'base64');
  if (file.length !== lengthOf(encoded)) throw faulty(rules.files, 'must be base64');
  return { file, fields: await checkFields(rules, fields) };
};

const lengthOf = (encoded: string): number =>
  Math.floor((encoded.replace(/={1,2}$/, '').length * 3) / 4);
