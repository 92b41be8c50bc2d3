import type { FollowUp } from '../../agents/module.js';
import { iso } from '../../kernel/clock.js';
import { parseExact, stringifyExact } from '../../kernel/exactjson.js';
import { excerpt } from '../../kernel/excerpt.js';
import { pageLink } from '../../kernel/pagepath.js';
import { EMPTY_POSTING, MAX_IN_EVENT_LENGTH, type Outbound } from '../../outbound/module.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { ATTEMPT_RESET } from './outcome.js';
import type { RunChange } from './record.js';
import type { LoadedRun } from './run.js';

export interface PipelineEnd {
  status: 'completed' | 'failed' | 'stopped';
  error: string | null;
}

export const buildRunEnd = (
  { outbound, now }: { outbound: Outbound; now(): number },
  run: LoadedRun,
  { status, error }: PipelineEnd,
  reply: FollowUp,
): { change: RunChange; published(): void } => {
  const { id, user_id: userId, name, template_id: templateId } = run.row;
  const at = iso(now());
  const notice =
    run.template.onFinish.notifyOwner && status !== 'stopped'
      ? outbound.outbox.toOwner(userId, {
          kind: `pipeline_${status}`,
          title: `${name} ${status === 'completed' ? 'is done' : 'failed'}`,
          body: error ?? formatRunResult(run, MAX_IN_EVENT_LENGTH),
          link: pageLink('run', id),
          about: name,
        })
      : EMPTY_POSTING;
  const links = { pipeline: `/api/pipelines/${id}` };
  const data = { pipelineId: id, name, templateId, status, error, links };
  const event =
    run.row.parent_id === null
      ? outbound.toWebhooks(userId, { type: 'pipeline.finished', data, hops: run.row.hops })
      : EMPTY_POSTING;
  return {
    change: {
      run: { status, error, finished_at: at },
      stages: stoppedStages(run, at),
      steps: [...notice.statements, ...event.statements, ...reply.statements],
    },
    published: () => {
      notice.published();
      event.published();
      reply.committed();
    },
  };
};

const stoppedStages = (run: LoadedRun, at: string): Map<string, Partial<PipelineStageRow>> =>
  new Map(
    [...run.stages.values()]
      .filter(({ finished_at }) => finished_at === null)
      .map(({ key }) => [key, { ...ATTEMPT_RESET, status: 'stopped', finished_at: at }]),
  );

/** Returns the outputs of the stages that no other stage needs, by key. */
export const lastOutputs = ({ template, stages }: LoadedRun): Record<string, unknown> => {
  const needed = new Set(template.stages.flatMap(({ needs = [] }) => needs));
  const last = template.stages.filter(({ key }) => !needed.has(key));
  return Object.fromEntries(
    last.flatMap(({ key }) => {
      const { output = null, status } = stages.get(key) ?? {};
      return status === 'completed' && output !== null ? [[key, parseExact(output)]] : [];
    }),
  );
};

export const formatRunResult = (run: LoadedRun, length: number): string => {
  const texts = Object.values(lastOutputs(run)).map((value) =>
    typeof value === 'string' ? value : (stringifyExact(value, 2) ?? ''),
  );
  return excerpt(texts.join('\n\n'), length) || 'All stages have ended.';
};
