import { contracts, type DocumentView } from '../../src/client/index.js';
import { buildColumns, reasonColumn } from '../columns.js';
import { crud } from '../crud.js';

export const documentColumns = buildColumns<DocumentView>(
  ['id:data', 'short=id:tail', 'name=filename', 'status:state'],
  reasonColumn(),
  ['pages', 'bytes:data'],
  { name: 'tags', value: ({ tags }) => tags.join(' ') },
  ['mediaType:data', 'ocr:data', 'confidence:data', 'textChars:data', 'language:data'],
  ['error:data', 'code:data', 'sha256:data', 'operationId:data', 'created=createdAt:ago'],
);

/** Only PDF files can be read with a password. */
export const unlockLine = (rows: DocumentView[]): string | undefined => {
  const locked = rows.find(
    ({ code, mediaType }) => code === 'password_needed' && mediaType === 'application/pdf',
  );
  return (
    locked && `Unlock it: adjutant documents reprocess ${locked.id.slice(-6)} --password-file -`
  );
};

export const documentCrud = crud<'documents', DocumentView>({
  noun: 'document',
  rows: 'documents',
  endpoints: await contracts.documents(),
  columns: documentColumns,
  named: ({ id, filename }) => ({ id, name: filename }),
});
