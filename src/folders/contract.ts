import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);

const folder = {
  id: s.id('folder'),
  path: s.text(4096).description('Path on the machine that runs the daemon'),
  type: s.oneOf('FolderType', 'file', 'directory'),
  patterns: s
    .list(s.text(200), 100)
    .description(
      'Glob patterns of the files to index. An empty list includes all files, except names that begin with a dot',
    ),
  tags: s.list(s.text(60), 20),
  watch: s.boolean().description('Whether changes in the folder are indexed'),
  error: s
    .nullable(s.anyText(2000))
    .description(
      'Reason why the last scan failed or changes are not watched. `null` without an error',
    ),
  operationId: s.id('operation').description('ID of the operation of the current or last scan'),
  createdAt: s.time(),
  scannedAt: s
    .nullable(s.time())
    .description('End of the last successful scan. `null` until the first successful scan'),
};
export const KnowledgeFolder = s.object('KnowledgeFolder', folder);
export type KnowledgeFolder = s.Static<typeof KnowledgeFolder>;

const KnowledgeFolderDetail = s.object('KnowledgeFolderDetail', {
  ...folder,
  files: s
    .object('FolderFiles', { ready: count(), pending: count(), failed: count(), skipped: count() })
    .description(
      'Number of files by state. `skipped` counts empty files and files of an unsupported type',
    ),
  failures: s
    .list(s.object('FolderFailure', { path: s.anyText(4096), error: s.anyText(2000) }), 50)
    .description(
      'First 50 files that could not be read completely, are empty or have an unsupported type, with the reason',
    ),
});
export type KnowledgeFolderDetail = s.Static<typeof KnowledgeFolderDetail>;

export const folders = contract({
  list: endpoint.get('/api/knowledge/folders', {
    summary: 'List indexed folders',
    query: pageQuery('KnowledgeFolderQuery', {}),
    reply: createPageSchema('folders', KnowledgeFolder),
  }),
  get: endpoint.get('/api/knowledge/folders/{id}', {
    summary: 'Get an indexed folder',
    reply: KnowledgeFolderDetail,
  }),
  delete: endpoint.delete('/api/knowledge/folders/{id}', {
    summary: 'Remove a folder from the index',
    description: 'A running scan is cancelled first. The files in the folder are not changed.',
  }),
});
