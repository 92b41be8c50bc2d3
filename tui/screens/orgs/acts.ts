import type { AdminOrg, Org, OrgInvite } from '../../../src/client/index.js';
import type { Acts, ScreenPage } from '../../page.js';
import { type Act, actTarget, reportDone } from '../../state/act.js';
import type { OrgMemberItem } from '../../state/orgs.js';
import type { State } from '../../state/state.js';
import { possibleActs } from '../list.js';

/** Adds an act that is possible without a row. */
export const withAdd = (page: ScreenPage, add: (state: State) => Act | null): ScreenPage => ({
  ...page,
  acts: (state) => ({ ...page.acts?.(state), ...possibleActs<Act>({ add: add(state) }) }),
});

/** Act that creates something from one line. `draft`: id of the unsent text. */
const typedAct = (
  draft: string,
  lines: string[],
  act: Pick<Act, 'text' | 'hint' | 'line' | 'call' | 'touches'>,
): Act => ({
  row: { list: 'orgs', id: draft },
  isFree: true,
  doing: 'sending…',
  ask: { lines, writes: true, ...(act.hint && { enter: act.hint }) },
  ...act,
});

export const createOrgAct = (): Act =>
  typedAct(
    'new organization',
    [
      'Short name and full name of the new organization, for example: acme Acme Ltd',
      'The short name has lower-case letters, digits and hyphens. It cannot be changed.',
    ],
    {
      touches: ['orgs'],
      text: 'Create an organization',
      hint: 'create',
      line: 'adjutant orgs create <slug> --name <name>',
      call: async ({ orgs }, typed) => {
        const [slug = '', ...words] = typed.trim().split(/\s+/);
        await orgs.create({ body: { slug, name: words.join(' ') || slug } });
        return `Created ${slug}. An admin of this installation must approve it`;
      },
    },
  );

export const approveAct = ({ id, slug }: AdminOrg): Act => ({
  ...actTarget('waitingOrgs', id, 'orgs'),
  text: `Approve organization ${slug}`,
  hint: 'approve',
  line: `adjutant orgs admin update ${slug} --approved`,
  doing: 'approving…',
  ask: {
    lines: [
      `Approve the organization ${slug}?`,
      'It can then own hooks, models and credentials, and set up single sign-on.',
    ],
  },
  call: ({ orgs }) =>
    reportDone(orgs['admin-update']({ id, body: { approved: true } }), `${slug} is approved`),
});

export const orgActs = ({ id, slug, role }: Org): Acts =>
  possibleActs<Act>({
    stop: {
      ...actTarget('orgs', id),
      text: `Leave organization ${slug}`,
      line: `adjutant orgs leave ${slug}`,
      doing: 'leaving…',
      ask: { lines: [`Leave ${slug}? You lose access to its resources at once.`] },
      call: async ({ auth, orgs }) => {
        const { id: userId } = await auth.me();
        return reportDone(orgs['member-remove']({ id, userId }), `You left ${slug}`);
      },
    },
    delete: role === 'owner' && {
      ...actTarget('orgs', id),
      text: `Delete organization ${slug}`,
      hint: 'delete',
      line: `adjutant orgs delete ${slug} --yes`,
      doing: 'deleting…',
      ask: {
        lines: [
          `Delete ${slug}? Its members lose it. Its models and MCP servers are deleted. There is no undo.`,
          'If it owns resources, you are then asked whether to transfer or delete them.',
        ],
        name: slug,
      },
      call: ({ orgs }) => reportDone(orgs.delete({ id, body: { slug } }), `${slug} is deleted`),
    },
  });

export const addMemberAct = ({ id, slug }: Org): Act =>
  typedAct(
    `member of ${id}`,
    [`Username or e-mail address of an account. It becomes a member of ${slug} at once.`],
    {
      touches: ['orgMembers', 'orgs'],
      text: `Add a member to ${slug}`,
      hint: 'add',
      line: `adjutant orgs members add ${slug} <username>`,
      call: async ({ orgs }, typed) => {
        const body = { username: typed.trim() };
        const { username, role } = await orgs['member-add']({ id, body });
        return `Added ${username} as ${role}`;
      },
    },
  );

const HIGHER = { owner: null, admin: 'owner', member: 'admin' } as const;
const LOWER = { owner: 'admin', admin: 'member', member: null } as const;

/** Users leave an organization in the list, not here. */
export const memberActs = (
  { id: userId, username, role }: OrgMemberItem,
  { id, slug, role: own }: Org,
  isSelf: boolean,
): Acts => {
  const isOwner = own === 'owner';
  if (!isOwner && role === 'owner') return {};
  const target = actTarget('orgMembers', userId, 'orgs');
  const change = (to: 'owner' | 'admin' | 'member' | null): Act | null =>
    to && {
      ...target,
      text: `Change the role of ${username} to ${to}`,
      line: `adjutant orgs members update ${slug} ${username} --role ${to}`,
      doing: 'changing…',
      ask: { lines: [`Change the role of ${username} in ${slug} from ${role} to ${to}?`] },
      call: ({ orgs }) =>
        reportDone(
          orgs['member-update']({ id, userId, body: { role: to } }),
          `${username} is now ${to}`,
        ),
    };
  return possibleActs<Act>({
    start: (isOwner || role === 'member') && change(HIGHER[role]),
    pause: change(LOWER[role]),
    use: isOwner &&
      !isSelf && {
        ...target,
        text: `Transfer ${slug} to ${username}`,
        line: `adjutant orgs transfer ${slug} ${username} --yes`,
        doing: 'transferring…',
        ask: { lines: [`Make ${username} an owner of ${slug}, and yourself an admin?`] },
        call: ({ orgs }) =>
          reportDone(
            orgs.transfer({ id, body: { userId } }),
            `${username} is now an owner of ${slug}. You are an admin`,
          ),
      },
    delete: !isSelf && {
      ...target,
      text: `Remove ${username} from ${slug}`,
      line: `adjutant orgs members remove ${slug} ${username}`,
      doing: 'removing…',
      ask: { lines: [`Remove ${username} from ${slug}? The member loses access at once.`] },
      call: ({ orgs }) =>
        reportDone(orgs['member-remove']({ id, userId }), `${username} is removed`),
    },
  });
};

/** The token is shown in a sheet and stored nowhere else. */
export const inviteAct = ({ id, slug }: Org): Act =>
  typedAct(
    `invite to ${id}`,
    [`Who may join ${slug}? Type the e-mail address of an account, or: anyone`],
    {
      touches: ['orgInvites'],
      text: `Create an invite to ${slug}`,
      hint: 'invite',
      line: `adjutant orgs invites create ${slug}`,
      call: async ({ orgs }, typed) => {
        const email = typed.trim();
        const body = email === 'anyone' ? {} : { email };
        const { inviteToken } = await orgs.invite({ id, body });
        const title = `Invite to ${slug}, shown only once. To use it: adjutant orgs join -`;
        return { message: 'The invite is created', secret: { title, value: inviteToken } };
      },
    },
  );

export const withdrawAct = ({ id: inviteId, email }: OrgInvite, { id, slug }: Org): Act => ({
  ...actTarget('orgInvites', inviteId),
  text: `Withdraw the invite for ${email ?? 'anyone'}`,
  hint: 'withdraw',
  line: `adjutant orgs invites delete ${slug} ${inviteId}`,
  doing: 'withdrawing…',
  ask: { lines: [`Withdraw the invite for ${email ?? 'anyone'}? Its token stops working.`] },
  call: ({ orgs }) =>
    reportDone(orgs['invite-delete']({ id, inviteId }), 'The invite is withdrawn'),
});
