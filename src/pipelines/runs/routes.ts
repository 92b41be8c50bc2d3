import Boom from '@hapi/boom';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { parseExact, withoutExactNumbers } from '../../kernel/exactjson.js';
import { resource } from '../../kernel/route.js';
import { hasScope } from '../../kernel/scope.js';
import {
  type PipelineRunRow,
  type PipelineStageRow,
  pipelineRunTable,
  pipelineStageTable,
} from '../../store/tables/pipelines.js';
import { viewer } from '../../store/view.js';
import type { PipelineTemplate, TemplateStage } from '../templates/contract.js';
import { PipelineRun, type PipelineRunDetail, pipelines, RunStageView } from './contract.js';
import type { RunsStore } from './queries.js';
import type { LoadedRun } from './run.js';
import type { RunService, StageAnswer } from './service.js';

interface RunsResourceDeps {
  runs: RunsStore;
  service: RunService;
  /** Throws 404. */
  template(userId: string, id: string): Promise<PipelineTemplate>;
  /**
   * Throws 403 if the caller may not use the tools of the template or its nested templates, or 400
   * if one cannot be run.
   */
  refuseUse(by: Caller, template: Pick<PipelineTemplate, 'id' | 'stages'>): Promise<void>;
}

export const runsResource = ({ runs, service, template, refuseUse }: RunsResourceDeps) => {
  const answered = async (
    { id, key }: { id: string; key: string },
    by: Caller & Recorder,
    answer: StageAnswer,
  ): Promise<PipelineRunDetail> => {
    refuseToken(by);
    const { digest } = answer;
    const step = by.record({ target: id, data: { key, digest } });
    return viewDetail(await service.answer(by.userId, id, { key, answer, steps: [step] }));
  };

  return resource('pipelines', pipelines, {
    list: async ({ query }, { userId }) => {
      const page = await runs.list(userId, query);
      return { pipelines: page.rows.map(viewRun), nextCursor: page.nextCursor };
    },
    start: async ({ body: { templateId, params = {}, name } }, by) => {
      const of = await template(by.userId, templateId);
      await refuseUse(by, of);
      const owner = { userId: by.userId, memberId: by.member?.userId };
      const started = { ...owner, template: of, params, name, untrusted: false };
      return viewDetail(await service.start(started));
    },
    get: async ({ id }, { userId }) => viewDetail(await service.owned(userId, id)),
    stop: async ({ id }, { userId }) => viewDetail(await service.stop(userId, id)),
    retry: async ({ id, body: { fromStage } }, by) => {
      const { row, template: storedTemplate } = await service.owned(by.userId, id);
      // A retry from a stage would repeat what was approved only once.
      if (fromStage !== undefined && storedTemplate.stages.some(asksPerson)) refuseToken(by);
      await refuseUse(by, { id: row.template_id, ...storedTemplate });
      return viewDetail(await service.retry(by.userId, id, fromStage));
    },
    approve: ({ body, ...at }, by) => answered(at, by, { is: 'approved', ...body }),
    reject: ({ body, ...at }, by) => answered(at, by, { is: 'rejected', ...body }),
    input: ({ body, ...at }, by) => answered(at, by, { is: 'input', ...body }),
  });
};

const asksPerson = ({ kind }: TemplateStage): boolean => kind === 'approval' || kind === 'input';

const RIGHT = 'approvals:write';

const refuseToken = ({ tokenId, scopes }: Caller): void => {
  if (tokenId === null || hasScope(scopes, RIGHT)) return;
  const message = `This token cannot answer stages. Log in, or use a token with the scope ${RIGHT}`;
  throw Boom.forbidden(message, { code: 'approval_right_missing' });
};

const viewRun = viewer(pipelineRunTable, PipelineRun, {
  usage: ({ tokens, cost_usd }: PipelineRunRow) => ({ tokens, costUsd: cost_usd }),
});

const viewDetail = ({ row, template, stages }: LoadedRun): PipelineRunDetail => ({
  ...viewRun(row),
  stages: template.stages.flatMap(({ key, name = key, kind, needs = [] }) => {
    const of = stages.get(key);
    return of ? [{ ...viewStage(of), name, kind, needs }] : [];
  }),
});

const viewStage = viewer(pipelineStageTable, RunStageView, {
  name: ({ key }: PipelineStageRow) => key,
  kind: () => '',
  needs: () => [],
  input: ({ input }: PipelineStageRow) => parsed(input),
  output: ({ output }: PipelineStageRow) => parsed(output),
});

const parsed = (text: string | null) =>
  text === null ? null : (withoutExactNumbers(parseExact(text)) ?? null);
