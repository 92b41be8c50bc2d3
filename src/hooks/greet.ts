import type { OpenedHook } from './hook.js';
import { createSignatureRecipe } from './senders/open.js';
import { GITHUB_GREETING } from './senders/presets.js';

interface NamedDelivery {
  event: string | null;
  headers: Record<string, string>;
}

/**
 * Returns the reason to skip a test event that a sender sends to a new address. Null if it is a
 * normal event, or if the hook has a condition on `event`.
 */
export const greetingReason = (
  { triggerConfig: { verify }, conditions }: OpenedHook,
  { event, headers }: NamedDelivery,
): string | null => {
  const isUnnamed = verify === undefined;
  const greeting = isUnnamed ? GITHUB_GREETING : createSignatureRecipe(verify).greeting;
  if (!greeting || event !== greeting.event) return null;
  if (isUnnamed && headers['x-github-event'] === undefined) return null;
  if (conditions.some(({ field }) => field === 'event')) return null;
  return `test event from ${greeting.sender}`;
};
