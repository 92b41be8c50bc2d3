import type { Models, UserCalls } from '../agents/module.js';
import type { Base } from '../base.js';
import { getEgressRefusal } from '../kernel/egress.js';
import type { Resource } from '../kernel/route.js';
import type { Knowledge } from '../knowledge/module.js';
import type { Operations } from '../operations/module.js';
import type { Outbound } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { ResearchActions } from '../tools/module.js';
import { researchActions } from './actions.js';
import { type ResearchFollow, researchFollow } from './follow.js';
import { researchOperation } from './operation.js';
import { researchStore } from './queries.js';
import { researchResource } from './routes.js';
import type { ResearchServiceDeps } from './service.js';
import { researchSourcesStore } from './sources.js';
import type { ResearchWeb } from './work.js';

export { type ResearchFollow, ResearchRejected } from './follow.js';

interface ResearchModuleDeps {
  hub: Hub;
  operations: Operations;
  /** The models that the owner may name, and the questions to them. */
  asked: { models: Pick<Models, 'has'>; userCalls: UserCalls };
  knowledge: Pick<Knowledge, 'actions' | 'texts'>;
  outbound: Pick<Outbound, 'outbox'>;
  web: Omit<ResearchWeb, 'isReachable'>;
}

/** Opens the research of questions, as operations. */
export const openResearch = (base: Base, deps: ResearchModuleDeps) => {
  const { hub, operations, asked, knowledge, outbound, web } = deps;
  const { store, clock, http } = base;
  const { search, getAllowedPage, readPage } = web;
  const { prepare, finish } = knowledge.texts;
  const isReachable = (url: string): boolean => getEgressRefusal(() => http.check(url)) === null;
  const jobs = researchStore(store);
  const sources = researchSourcesStore(store);
  const starts = operations.register(
    researchOperation({
      clock,
      jobs,
      sources,
      userCalls: asked.userCalls,
      web: { search, getAllowedPage, readPage, isReachable },
      knowledge: { search: knowledge.actions.search, prepare, finish },
      outbox: outbound.outbox,
    }),
  );
  const service: ResearchServiceDeps = {
    clock,
    http,
    jobs,
    sources,
    texts: knowledge.texts,
    starts,
    hasModel: asked.models.has,
    isSearchable: search.provider !== null,
  };
  const actions: ResearchActions = researchActions(service);
  const follow: ResearchFollow = researchFollow(service, operations);
  return { actions, follow, resources: (): Resource[] => [researchResource(service, hub)] };
};
