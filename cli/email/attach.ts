import { uploadDocuments } from '../../src/client/upload.js';
import { type Context, textFlag } from '../command.js';
import { documentCrud } from '../documents/document.js';
import { findLocalFiles, readFiles, UNREADABLE } from '../documents/files.js';
import { failed, usageFault } from '../exit.js';
import { safe } from '../text.js';

export const attachFlags = {
  attachments: textFlag(
    '<document…>',
    'Documents to attach: ids or file names, separated by commas',
  ),
  attach: textFlag(
    '<file…>',
    'Local files to attach, separated by commas. The files are stored as documents',
  ),
};

export const uploadAttachments = async (
  context: Context,
  { attachments, attach }: { attachments?: string | undefined; attach?: string | undefined },
): Promise<string[]> => {
  const ids: string[] = [];
  for (const word of parseCommaList(attachments))
    ids.push((await documentCrud.find(context, word)).id);
  const found = await Promise.all(parseCommaList(attach).map(findLocalFiles));
  const files = found.flatMap((each) => each.files);
  const [unreadable] = found.flatMap((each) => each.unreadable);
  if (unreadable !== undefined) throw usageFault(`${safe(unreadable)} ${UNREADABLE}.`);
  if (files.length === 0) return ids;
  const client = await context.client();
  const { documents, refused } = await uploadDocuments(client, await readFiles(files), {});
  const [first] = refused;
  if (first) throw failed(`${safe(first.filename)} ${first.reason}. Nothing was sent.`);
  return [...ids, ...documents.map(({ id }) => id)];
};

const parseCommaList = (list: string | undefined): string[] =>
  (list ?? '').split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));
