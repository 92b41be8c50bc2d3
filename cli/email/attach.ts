import { uploadDocuments } from '../../src/client/upload.js';
import { type Context, textFlag } from '../command.js';
import { documentCrud } from '../documents/document.js';
import { filesAt, readFiles } from '../documents/files.js';
import { failed } from '../exit.js';
import { safe } from '../text.js';

/** The flags that name what goes along with an e-mail. */
export const attachFlags = {
  attachments: textFlag('<document…>', 'Documents of yours, each by its id or its file name'),
  attach: textFlag('<file…>', 'Files of this machine, which become documents of yours'),
};

/** Returns the ids of the documents that go along; files of this machine are uploaded first. */
export const attachedIds = async (
  context: Context,
  { attachments, attach }: { attachments?: string | undefined; attach?: string | undefined },
): Promise<string[]> => {
  const ids: string[] = [];
  for (const word of wordsOf(attachments)) ids.push((await documentCrud.find(context, word)).id);
  const found = await Promise.all(wordsOf(attach).map(filesAt));
  const files = found.flatMap((each) => each.files);
  if (files.length === 0) return ids;
  const client = await context.client();
  const { documents, refused } = await uploadDocuments(client, await readFiles(files), {});
  const [first] = refused;
  if (first) throw failed(`${safe(first.filename)} ${first.reason}. Nothing was sent.`);
  return [...ids, ...documents.map(({ id }) => id)];
};

const wordsOf = (list: string | undefined): string[] =>
  (list ?? '').split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));
