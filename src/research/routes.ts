import Boom from '@hapi/boom';
import type { Caller } from '../kernel/contract/endpoint.js';
import { resource } from '../kernel/route.js';
import { type Hub, readOrWait } from '../realtime/module.js';
import { type ResearchJobDetail, research } from './contract.js';
import {
  deleteJob,
  findJob,
  isOpenJob,
  jobDetail,
  type ResearchServiceDeps,
  startResearch,
  viewJob,
} from './service.js';

export const researchResource = (deps: ResearchServiceDeps, hub: Hub) => {
  const waitForJob = async (
    { userId, signal }: Pick<Caller, 'userId' | 'signal'>,
    id: string,
    seconds: number,
  ): Promise<ResearchJobDetail> => {
    await findJob(deps, userId, id);
    const concerns = (data: unknown) => Object(data).resource?.id === id;
    const wait = { userId, channels: ['operation.progress'], concerns, ms: seconds * 1000, signal };
    await readOrWait(hub, wait, async () => {
      const job = await deps.jobs.get(userId, id);
      return job && isOpenJob(job) ? [] : [id];
    });
    return jobDetail(deps, userId, id);
  };

  return resource('research', research, {
    start: async ({ body }, { userId }) =>
      jobDetail(deps, userId, await startResearch(deps, userId, body)),
    list: async ({ query }, { userId }) => {
      const page = await deps.jobs.list(userId, query);
      return { jobs: page.rows.map(viewJob), nextCursor: page.nextCursor };
    },
    get: async ({ id, query }, by) => waitForJob(by, id, query.wait ?? 0),
    cancel: async ({ id }, { userId }) => {
      const job = await findJob(deps, userId, id);
      if (!isOpenJob(job))
        throw Boom.conflict(`The research job has already ended with status ${job.status}`);
      await deps.starts.cancel(userId, job.operation_id);
      return jobDetail(deps, userId, id);
    },
    delete: ({ id }, { userId }) => deleteJob(deps, userId, id),
  });
};
