import type { Models, UserCalls } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Resource } from '../kernel/route.js';
import type { KnowledgeTexts } from '../knowledge/module.js';
import type { Operations } from '../operations/module.js';
import type { ReadPage } from '../providers/pages/apart.js';
import { createPageClient } from '../providers/pages/request.js';
import type { Hub } from '../realtime/module.js';
import { readOperation } from './operation.js';
import { readerStore } from './queries.js';
import { readerResource } from './routes.js';
import { createSummarize } from './summary.js';

interface ReaderModuleDeps {
  hub: Hub;
  operations: Operations;
  models: Pick<Models, 'has'>;
  userCalls: UserCalls;
  texts: Pick<KnowledgeTexts, 'index'>;
  readPage: ReadPage;
}

/** Opens the reader: pages of the web that a person has read, as operations. */
export const openReader = (base: Base, deps: ReaderModuleDeps) => {
  const { hub, operations, models, userCalls, texts, readPage } = deps;
  const { store, clock, http } = base;
  const tasks = readerStore(store);
  const summarize = createSummarize(userCalls);
  const reads = operations.register(
    readOperation({ clock, tasks, getPage: createPageClient(http), readPage, summarize, texts }),
  );
  const resource = readerResource({ clock, hub, http, tasks, reads, hasModel: models.has });
  return { resources: (): Resource[] => [resource] };
};
