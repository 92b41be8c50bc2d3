import { isBoom } from '@hapi/boom';
import { type ResearchActions, ToolRefused } from '../tools/module.js';
import { jobDetail, type ResearchServiceDeps, startResearch } from './service.js';

export const researchActions = (deps: ResearchServiceDeps): ResearchActions => ({
  start: async (userId, request, effectId) => {
    try {
      const id = await startResearch(deps, userId, request, { effectId });
      const { status } = await jobDetail(deps, userId, id);
      return { id, status };
    } catch (error) {
      if (isBoom(error)) throw new ToolRefused(error.message);
      throw error;
    }
  },
  read: async (userId, id) => {
    const job = await deps.jobs.get(userId, id);
    if (!job) return null;
    const { question, status, progress, error, sources, report } = await jobDetail(
      deps,
      userId,
      id,
    );
    return {
      id,
      question,
      status,
      progress: progress?.note ?? null,
      error,
      markdown: report?.markdown ?? null,
      unverified: report?.unverified ?? null,
      sources: sources
        .filter(({ used }) => used)
        .map(({ n, url, entryId, title }) => ({ n, url, entryId, title })),
    };
  },
});
