import type { LoginSession } from '../../src/accounts/loginsessions/contract.js';
import type { PushSubscription } from '../../src/channels/push/contract.js';
import { Button, useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Failure, State } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';
import { type PushState, readPush, turnPushOff, turnPushOn } from '../state/push.js';
import { logOut } from '../state/session.js';

/** Push notifications, logout and the other login sessions. */
export const Device = () => {
  const push = useLoad<PushState>({ key: '', load: readPush });
  const logins = useLoad({
    key: '',
    load: (signal) => ask('GET', '/api/auth/sessions', { query: { limit: 50 } }, signal),
  });
  const logoutAction = useAction();
  return (
    <>
      <Heading title="This device" />
      <section aria-labelledby="pushes">
        <h2 id="pushes">Push notifications</h2>
        <Show of={push} what="the push settings">
          {(state) => (
            <>
              <Pushes state={state} loaded={push} />
              <OtherBrowsers own={state.is === 'on' ? state.id : null} />
            </>
          )}
        </Show>
      </section>
      <section aria-labelledby="logins">
        <h2 id="logins">Login sessions</h2>
        <Show of={logins} what="logins">
          {({ sessions }) => (
            <ul class="cards">
              {sessions.map((login) => (
                <LoginCard key={login.id} login={login} loaded={logins} />
              ))}
            </ul>
          )}
        </Show>
      </section>
      <h2>This session</h2>
      {logoutAction.error && <Failure error={logoutAction.error} />}
      <Button action={logoutAction} work={logOut}>
        Log out on this device
      </Button>
      <p class="muted">
        Manage passkeys on <a href="/passkeys">the passkey page</a>. All other settings are in the
        command line and the desk.
      </p>
    </>
  );
};

const Pushes = ({ state, loaded }: { state: PushState; loaded: Loaded<PushState> }) => {
  const action = useAction();
  const changePush = (work: () => Promise<PushState>) => async () => loaded.replace(await work());
  if (state.is === 'impossible') return <p role="status">{state.reason}</p>;
  return (
    <>
      {action.error && <Failure error={action.error} />}
      <p role="status">
        <State of={state.is === 'on' ? 'enabled' : 'disabled'} />{' '}
        {state.is === 'on'
          ? 'This browser notifies you when something needs your attention.'
          : 'This browser can notify you when something needs your attention, even while the page is closed.'}
      </p>
      <p class="muted">
        A push notification contains the kind of the notification, but none of its text. It is
        encrypted, and it passes through the push service of the browser vendor.
      </p>
      {state.is === 'on' ? (
        <div class="buttons">
          <Button action={action} work={() => testPush(state.id)}>
            Send a test
          </Button>
          <Button action={action} work={changePush(() => turnPushOff(state.id))}>
            Turn off push notifications
          </Button>
        </div>
      ) : (
        <Button action={action} kind="main" work={changePush(turnPushOn)}>
          Turn on push notifications
        </Button>
      )}
    </>
  );
};

/** Other browsers with push notifications, which the end of their login does not turn off. */
const OtherBrowsers = ({ own }: { own: string | null }) => {
  const list = useLoad({
    key: '',
    load: (signal) => ask('GET', '/api/push/subscriptions', { query: { limit: 200 } }, signal),
  });
  const others = (list.data?.subscriptions ?? []).filter(({ id }) => id !== own);
  if (others.length === 0) return null;
  return (
    <>
      <h3>Other browsers with push notifications</h3>
      <ul class="cards">
        {others.map((browser) => (
          <BrowserCard key={browser.id} browser={browser} loaded={list} />
        ))}
      </ul>
    </>
  );
};

const BrowserCard = ({
  browser,
  loaded,
}: {
  browser: PushSubscription;
  loaded: Pick<Loaded<unknown>, 'reload'>;
}) => {
  const action = useAction();
  const deviceLabel = visibleText(browser.name);
  const end = async (): Promise<void> => {
    await ask('DELETE', '/api/push/subscriptions/{id}', { id: browser.id });
    document.querySelector('h1')?.focus();
    await loaded.reload();
  };
  return (
    <li class="card">
      <p class="line">
        <strong>{deviceLabel}</strong>
        <span class="at">
          since <Ago at={browser.createdAt} />
        </span>
      </p>
      {action.error && <Failure error={action.error} />}
      <Button action={action} work={end}>
        Turn off push notifications for {deviceLabel}
      </Button>
    </li>
  );
};

const testPush = async (id: string): Promise<void> => {
  const { status, error } = await ask('POST', '/api/channels/{id}/test', { id });
  if (status === 'failed' || status === 'unknown')
    throw new Error(error ?? 'The test was not sent');
};

const LoginCard = ({
  login,
  loaded,
}: {
  login: LoginSession;
  loaded: Pick<Loaded<unknown>, 'reload'>;
}) => {
  const action = useAction();
  const deviceLabel = visibleText(login.device ?? 'unnamed');
  const end = async (): Promise<void> => {
    await ask('DELETE', '/api/auth/sessions/{id}', { id: login.id });
    document.querySelector('h1')?.focus();
    await loaded.reload();
  };
  return (
    <li class="card">
      <p class="line">
        <strong>{deviceLabel}</strong>
        {login.current && <span class="state ok">current</span>}
        <span class="at">
          <Ago at={login.lastUsedAt ?? login.createdAt} />
        </span>
      </p>
      {action.error && <Failure error={action.error} />}
      {!login.current && (
        <Confirm
          action={action}
          work={end}
          question={`End the session ${deviceLabel}? That device must log in again.`}
          label="End session"
          kind="danger"
        >
          End session {deviceLabel}
        </Confirm>
      )}
    </li>
  );
};
