import { basename } from 'node:path';
import { contracts } from '../../src/client/index.js';
import { type CommandGroup, type Context, command, type Flag, textFlag } from '../command.js';
import { documentColumns, documentCrud, unlockLine } from '../documents/document.js';
import { downloadOriginal } from '../documents/download.js';
import { uploadCommand } from '../documents/upload.js';
import { usageFault } from '../exit.js';
import { readSecretInput } from '../input.js';
import { safe } from '../text.js';

const endpoints = await contracts.documents();

const pageFlag: Flag<number> = {
  value: '<number>',
  about: 'Number of the page to print, from 1. Defaults to all pages',
  read: (text) => {
    if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
    throw usageFault(`Invalid page "${text}". Expected a number from 1.`);
  },
};

const textCommand = command({
  name: 'text',
  args: '<document>',
  summary: 'Print the extracted text of a document',
  calls: [endpoints.get, endpoints.page],
  examples: ['letter.pdf', 'letter.pdf --page 2', '4ew6rt | less'],
  flags: { page: pageFlag },
  run: async (context, { args, flags }) => {
    const { client, id } = await documentCrud.find(context, args.document);
    if (flags.page !== undefined) {
      const { text } = await client.documents.page({ id, number: String(flags.page) });
      return printText(context, text);
    }
    const { ocrText, truncated, error } = await client.documents.get({ id });
    printText(context, ocrText);
    if (truncated)
      context.out.warn('The text is truncated at 1,000,000 characters. Read the rest with --page.');
    if (error !== null) context.out.warn(safe(error));
  },
});

const printText = ({ out }: Context, text: string): void => {
  for (const line of text.split('\n')) out.line(out.isTerminal ? safe(line) : line);
};

const passwordFile = textFlag('<file|->', 'File with the password of an encrypted PDF file');
const passwordQuestion = { ask: 'Password of the document', instead: '--password-file' };

const download = command({
  name: 'download',
  args: '<document> [file]',
  calls: [endpoints.content],
  examples: ['letter.pdf', 'letter.pdf copies/letter.pdf', '4ew6rt - > letter.pdf'],
  notes: [
    'Without a file argument, the document is saved in the current folder under the original file name.',
  ],
  run: async (context, { args }) => {
    const { client, id } = await documentCrud.find(context, args.document);
    const file = args.file ?? basename((await client.documents.get({ id })).filename);
    await downloadOriginal(context, id, file);
    if (file !== '-') context.out.note(`Saved: ${safe(file)}`);
  },
});

export const documentsGroup: CommandGroup = {
  commands: [
    documentCrud.list({
      examples: ['', '--status failed', '--tags invoices --json', '--q letter'],
      next: (rows) => {
        if (rows.length === 0)
          return 'No documents yet. Upload some: adjutant documents upload <file or folder>';
        return unlockLine(rows);
      },
      seeAlso: 'adjutant documents upload',
    }),
    documentCrud.get({ examples: ['letter.pdf', '4ew6rt --json', '4ew6rt --fields status,error'] }),
    uploadCommand,
    textCommand,
    download,
    documentCrud.update({
      examples: [
        'letter.pdf --tags invoices,2026',
        '4ew6rt --filename letter.pdf',
        '4ew6rt --edit',
      ],
    }),
    documentCrud.request({
      name: 'reprocess',
      args: '<document>',
      endpoint: endpoints.reprocess,
      except: ['password'],
      flags: { passwordFile },
      examples: ['letter.pdf --language deu', 'locked.pdf --password-file -', '4ew6rt --json'],
      more: async (context, { flags }) =>
        flags.passwordFile === undefined
          ? {}
          : { password: await readSecretInput(context, flags.passwordFile, passwordQuestion) },
      show: ({ out }, row) => {
        const look = `adjutant operations watch ${row.operationId.slice(-6)}`;
        out.done(`Reprocessing. Follow it: ${look}`, row, documentColumns);
      },
    }),
    documentCrud.act('cancel', endpoints.cancel, {
      examples: ['letter.pdf', '4ew6rt --json', '4ew6rt --output id'],
      message: ({ filename }) => `Cancelled: ${safe(filename)}`,
    }),
    documentCrud.delete({
      several: true,
      examples: [
        'letter.pdf',
        'letter.pdf minutes.pdf --yes',
        'documents list --status failed --output id | xargs -n1 adjutant documents delete --yes',
      ],
      ask: ({ filename }) => `Delete ${safe(filename)} and its original file?`,
    }),
  ],
  notes: ['Identify a document by its file name, its id, or the last six characters of the id.'],
};
