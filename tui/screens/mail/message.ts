import type { MailMessageDetail } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { row, tonedSpan } from '../../parts/row.js';
import { factRows, jsonRows, textRows } from '../../parts/text.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { detailPage } from '../detail.js';
import { fileActs, messageActs } from './acts.js';
import { formatMailSubject, mailFacts, mailMore } from './facts.js';

const shownMail = ({ ui, lists }: State): MailMessageDetail | null =>
  lists.wholeMails.byId[topView(ui).id ?? ''] ?? null;

/** One e-mail: header and text. Its HTML is not shown, and no link is followed. */
export const messagePage: ScreenPage = {
  ...detailPage<MailMessageDetail>({
    name: 'message',
    title: 'Message',
    noun: 'e-mail',
    tabs: [],
    list: 'wholeMails',
    shown: shownMail,
    head: (state, mail) => [
      row(
        tonedSpan('strong', formatMailSubject(mail)),
        '   ',
        state.lists.mails.busy[mail.id] ?? '',
      ),
      row(tonedSpan('muted', 'external text; opening it here does not mark it as read')),
    ],
    text: (state, mail, width) => {
      const { isRaw, isWrapped } = topView(state.ui);
      if (isRaw) return jsonRows(mail, width, isWrapped);
      return [
        ...factRows([...mailFacts(mail, state.session.now), ...mailMore(mail)], width),
        [],
        ...textRows(mail.text, width, true),
      ];
    },
  }),
  acts: (state) => {
    const mail = shownMail(state);
    return mail ? { ...messageActs(mail), ...fileActs(mail) } : {};
  },
  related: (state) => {
    const mail = shownMail(state);
    return mail ? { page: 'thread', id: mail.threadId } : null;
  },
  line: ({ ui }) => `adjutant email get ${topView(ui).id}`,
  needs: ({ ui }) => [{ is: 'list', list: 'wholeMails', of: topView(ui).id }],
};
