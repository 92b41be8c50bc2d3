import type { ResearchFollow } from '../../research/module.js';
import { ResearchRejected } from '../../research/module.js';
import { type CallOutcome, RESEARCH } from './calls.js';
import type { RunStage } from './run.js';

export type RecordOperation = (of: RunStage, operationId: string) => Promise<void>;

export const createStageResearch = (research: ResearchFollow, begun: RecordOperation) => ({
  perform: async (of: RunStage, signal: AbortSignal): Promise<CallOutcome> => {
    const { user_id: userId } = of.run.row;
    const maxCostUsd = of.row.reserved_usd || RESEARCH.maxCostUsd;
    const request = { ...JSON.parse(of.row.input ?? '{}').arguments, limits: { maxCostUsd } };
    try {
      const { id, operationId } = await research.start({
        userId,
        request,
        effectId: formatEffectId(of),
      });
      await begun(of, operationId);
      const { status, question, error, report, sources, usage } = await research.ended(
        userId,
        id,
        signal,
      );
      const { inputTokens, outputTokens, costUsd } = usage;
      const ended = { untrusted: true, usage: { tokens: inputTokens + outputTokens, costUsd } };
      if (status !== 'completed') {
        return { status: 'failed', error: error ?? `The research was ${status}`, ...ended };
      }
      const used = sources
        .filter((source) => source.used)
        .map(({ n, url, entryId, title }) => ({ n, url, entryId, title }));
      const { markdown = '', unverified = 0, limitations = [] } = report ?? {};
      const output = { id, question, markdown, unverified, limitations, sources: used };
      return { status: 'completed', output, ...ended };
    } catch (error) {
      if (!(error instanceof ResearchRejected)) throw error;
      return { status: 'failed', error: error.message, untrusted: false };
    }
  },

  cancel: (of: RunStage): Promise<void> => research.cancel(of.run.row.user_id, formatEffectId(of)),
});

const formatEffectId = ({ run, row }: RunStage): string =>
  `${run.row.id}-${row.key}-${row.visits}-${row.attempt}`;
