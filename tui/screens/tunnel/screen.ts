import type { ScreenPage } from '../../page.js';
import { timeOfEvent } from '../../parts/times.js';
import { checkTunnelAct, forget, startTunnelAct, stopTunnelAct } from './slice.js';
import { shownTunnel, tunnelText, tunnelView } from './view.js';

const EVERY_MS = 5000;

export const tunnelPage: ScreenPage = {
  name: 'tunnel',
  root: 'tunnel',
  title: 'Tunnel',
  tabs: [],
  text: tunnelText,
  acts: (state) => {
    const tunnel = shownTunnel(state);
    if (!tunnel) return {};
    const isOurs = tunnel.publicUrl !== null && !tunnel.publicUrlSetting;
    return {
      check: checkTunnelAct,
      ...(tunnel.on ? { stop: stopTunnelAct(tunnel) } : { start: startTunnelAct }),
      ...(isOurs && { delete: forget(tunnel) }),
    };
  },
  leaves: () => ({ edit: ['tunnel', 'setup'] }),
  copies: (state) => shownTunnel(state)?.address ?? '',
  summary: (state) => {
    const tunnel = shownTunnel(state);
    if (!tunnel) return '';
    const { trouble } = state.lists.tunnel;
    if (trouble) return `not read again: ${trouble.message}`;
    if (!tunnel.check) return 'not checked since the daemon started';
    return `checked ${timeOfEvent(tunnel.check.checkedAt, state.session.now)}`;
  },
  glossary: [
    ['signed', 'a delivery with a signature comes through as it was sent'],
    ['exposed', 'what should not be reached from outside is not'],
  ],
  // Users who are not admins are refused once, and the desk does not ask again.
  needs: ({ session }) =>
    session.who?.role === 'admin'
      ? [
          { is: 'list', list: 'tunnel', everyMs: EVERY_MS },
          { is: 'channel', channel: 'tunnel.status' },
        ]
      : [{ is: 'list', list: 'tunnel' }],
  view: tunnelView,
};
