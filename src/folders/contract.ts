import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);

const folder = {
  id: s.id('folder'),
  path: s.text(4096).description('On the machine of the daemon'),
  type: s.oneOf('FolderType', 'file', 'directory'),
  patterns: s.list(s.text(200), 100).description('The files that are read; none: all'),
  tags: s.list(s.text(60), 20),
  watch: s.flag().description('Changes are read when they happen'),
  error: s.nullable(s.anyText(2000)).description('Why the last scan failed, or it is not watched'),
  operationId: s.id('operation').description('The scan that runs, or was the last'),
  createdAt: s.time(),
  scannedAt: s.nullable(s.time()).description('The end of the last scan that did not fail'),
};
/** A folder of the machine whose files are knowledge. */
export const KnowledgeFolder = s.object('KnowledgeFolder', folder);
export type KnowledgeFolder = s.Static<typeof KnowledgeFolder>;

const KnowledgeFolderDetail = s.object('KnowledgeFolderDetail', {
  ...folder,
  files: s
    .object('FolderFiles', { ready: count(), pending: count(), failed: count(), skipped: count() })
    .description('skipped: of a kind that is not read'),
  failures: s
    .list(s.object('FolderFailure', { path: s.anyText(4096), error: s.anyText(2000) }), 50)
    .description('The first files that were not read, or not wholly, and why'),
});
export type KnowledgeFolderDetail = s.Static<typeof KnowledgeFolderDetail>;

export const folders = contract({
  list: endpoint.get('/api/knowledge/folders', {
    summary: 'List the folders that you have indexed, newest first',
    query: pageQuery('KnowledgeFolderQuery', {}),
    reply: pageOf('folders', KnowledgeFolder),
  }),
  get: endpoint.get('/api/knowledge/folders/{id}', {
    summary: 'Show a folder, how many files it has, and which could not be read',
    reply: KnowledgeFolderDetail,
  }),
  delete: endpoint.delete('/api/knowledge/folders/{id}', {
    summary: 'Forget a folder and what was read from it; its files stay as they are',
  }),
});
