import type { TunnelCheck, TunnelView } from '../../../src/client/index.js';
import type { Act, ActResult } from '../../state/act.js';
import { TUNNEL } from '../../state/lists.js';

/** The acts on the tunnel. They are for admins; the daemon refuses them to others. */

const on: Pick<Act, 'row' | 'touches'> = {
  row: { list: 'tunnel', id: TUNNEL },
  touches: ['tunnel'],
};

export const checkTunnelAct: Act = {
  ...on,
  text: 'Check the tunnel from outside in',
  line: 'adjutant tunnel check',
  doing: 'checking…',
  call: async (client) => saidOf(await client.tunnel.check()),
};

const saidOf = ({ stages, failure }: TunnelCheck): string | ActResult => {
  if (failure) return { said: `It fails at: ${failure.stage}`, tone: 'danger' };
  const doubtful = stages.filter(({ status }) => status === 'warn').map(({ name }) => name);
  if (doubtful.length > 0)
    return { said: `Nothing fails; look at: ${doubtful.join(', ')}`, tone: 'warn' };
  return `Checked: none of ${stages.length} stages fails`;
};

export const forget = ({ address }: TunnelView): Act => ({
  ...on,
  text: 'Forget the public address',
  line: 'adjutant tunnel forget',
  doing: 'forgetting…',
  ask: { lines: [`Forget ${address ?? 'the public address'}? The tunnel is switched off.`] },
  call: async (client) => {
    await client.tunnel.forget();
    return 'Forgotten, and off';
  },
});

export const startTunnelAct: Act = {
  ...on,
  text: 'Start the tunnel',
  line: 'adjutant tunnel start',
  doing: 'starting…',
  call: async (client) => {
    await client.tunnel.start();
    return 'On, now and after each start of the daemon';
  },
};

export const stopTunnelAct = ({ address }: TunnelView): Act => ({
  ...on,
  text: 'Stop the tunnel',
  line: 'adjutant tunnel stop',
  doing: 'stopping…',
  ask: { lines: [`Stop the tunnel? Nothing comes in by ${address ?? 'it'} any more.`] },
  call: async (client) => {
    await client.tunnel.stop();
    return 'Off';
  },
});
