import { Box } from 'ink';
import { hintsView, messageView, ruleView, tabsView, titleView } from './frame/bars.js';
import { helpView } from './frame/help.js';
import { sheetView, sizeView } from './frame/sheets.js';
import { isStranger, welcomeView } from './frame/welcome.js';
import type { PageNeed } from './page.js';
import { Desk, type DeskContext, useDesk, useKnown, useNeed } from './parts/desk.js';
import { Rows } from './parts/rows.js';
import { screenPage } from './screens.js';
import { isTooSmall, sheetHeight } from './state/layout.js';

/**
 * The whole screen: bars above and below, the page between them, and a sheet over the end of the
 * page.
 */
export const App = ({ desk }: { desk: DeskContext }) => (
  <Desk value={desk}>
    <Needs />
    <Frame />
  </Desk>
);

/**
 * The frame of the screen. The painter draws every part of it through regions, so Ink draws
 * nothing. The frame has an absolute position, so that Ink's own output stays empty; otherwise
 * drawing that output takes most of the time of each key press.
 */
const Frame = () => {
  const { painter } = useDesk();
  const position = painter ? 'absolute' : 'relative';
  const width = useKnown(({ ui }) => ui.size.width);
  const height = useKnown(({ ui }) => ui.size.height);
  const isSmall = useKnown(isTooSmall);
  if (isSmall) {
    return (
      <Box position={position} width={width} height={height}>
        <Rows view={sizeView} />
      </Box>
    );
  }
  return (
    <Box position={position} width={width} height={height} flexDirection="column">
      <Rows view={titleView} height={1} />
      <Rows view={tabsView} height={1} />
      <Rows view={ruleView} height={1} />
      <Body />
      <Sheet />
      <Rows view={messageView} height={1} />
      <Rows view={hintsView} height={1} />
    </Box>
  );
};

const Body = () => {
  const page = useKnown(screenPage);
  const isHelp = useKnown(({ ui }) => ui.isHelp);
  const isUnknown = useKnown(isStranger);
  if (isHelp) return <Rows view={helpView} />;
  return <Rows view={isUnknown ? welcomeView : page.view} />;
};

const Sheet = () => {
  const height = useKnown(sheetHeight);
  return height === 0 ? null : <Rows view={sheetView} height={height} />;
};

/** The need for the approvals: their count in the title must be right on every screen. */
const COUNTED: PageNeed = { is: 'list', list: 'approvals', everyMs: 30_000 };

/** Loads, and subscribes to, what the page on top needs, while that page is shown. */
const Needs = () => {
  const { store } = useDesk();
  useKnown((state) => JSON.stringify(screenPage(state).needs(state)));
  const state = store.get();
  const needs = [COUNTED, ...screenPage(state).needs(state)];
  return needs.map((need) => <Wanted key={JSON.stringify(need)} need={need} />);
};

const Wanted = ({ need }: { need: PageNeed }) => {
  useNeed(need);
  return null;
};
