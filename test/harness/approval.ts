import type { TestApp } from './app.js';
import { inside } from './inside.js';

/** Creates a pending approval of that user. Resolves to its id. */
export const askApproval = async (
  { app }: TestApp,
  userId: string,
  more: Record<string, unknown> = {},
): Promise<string> => {
  const { toolbox, approvals } = inside(app);
  const tool = toolbox.of('user_1').find('http', 'request');
  if (!tool) throw new Error('There is no tool to ask for');
  const args = { method: 'POST', url: 'http://127.0.0.1:9/', ...more };
  const admission = await approvals.admit({ userId, tool, arguments: args });
  if (admission.verdict !== 'ask') throw new Error(`It was not asked: ${admission.verdict}`);
  return admission.approval.id;
};
