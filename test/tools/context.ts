import type { ToolContext } from '../../src/tools/tool.js';

export const contextOf = (more: Partial<ToolContext> = {}): ToolContext => ({
  userId: 'user_1',
  agentId: 'agent_1',
  executionId: null,
  openFolder: async () => '/nowhere',
  signal: new AbortController().signal,
  effectId: 'effect_1',
  ...more,
});

/** What a call is refused or failed with: the whole error, as plain data. */
export const failureOf = async (call: Promise<unknown>): Promise<Record<string, unknown>> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) return { name: null };
  const { cause: _, ...own } = Object.fromEntries(Object.entries(error));
  return { ...own, message: error.message };
};
