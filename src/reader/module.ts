import type { Models, UserCalls } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Resource } from '../kernel/route.js';
import type { Knowledge } from '../knowledge/module.js';
import type { Operations } from '../operations/module.js';
import type { PageAccess } from '../providers/pages/access.js';
import type { Hub } from '../realtime/module.js';
import { readOperation } from './operation.js';
import { readerStore } from './queries.js';
import { beginReading, readerResource } from './routes.js';
import { createSummarize } from './summary.js';

interface ReaderModuleDeps {
  hub: Hub;
  operations: Operations;
  asked: { models: Pick<Models, 'has'>; userCalls: UserCalls };
  knowledge: Pick<Knowledge, 'texts' | 'handle'>;
  pages: PageAccess;
}

export const openReader = (base: Base, deps: ReaderModuleDeps) => {
  const { hub, operations, asked, knowledge, pages } = deps;
  const { models, userCalls } = asked;
  const { store, clock, http } = base;
  const tasks = readerStore(store);
  const summarize = createSummarize(userCalls);
  const reads = operations.register(
    readOperation({ clock, tasks, pages, summarize, texts: knowledge.texts }),
  );
  const service = { clock, hub, http, tasks, reads, hasModel: models.has };
  const resource = readerResource(service);
  knowledge.handle({
    url: async (userId, { url, tags }) =>
      (await beginReading(service, userId, { url, tags, index: true })).operation,
  });
  return { resources: (): Resource[] => [resource] };
};
