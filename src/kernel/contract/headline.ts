/** The kinds of notifications whose title only names who speaks: a hook, or an agent. */
const NAMED_KINDS = ['hook_notice', 'hook_failed', 'agent_completed', 'agent_failed'];

/**
 * Returns one line that tells what a notification says, for lists: its title, and the first line of
 * its body where the title only names who speaks.
 */
export const headlineOf = (notice: { kind: string; title: string; body: string }): string => {
  const { kind, title, body } = notice;
  const [first = ''] = body.trim().split('\n', 1);
  return NAMED_KINDS.includes(kind) && first !== '' ? `${title}: ${first.slice(0, 500)}` : title;
};
