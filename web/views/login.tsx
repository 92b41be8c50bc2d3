import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Login } from '../../src/kernel/contract/login.js';
import { useAction } from '../parts/action.js';
import { Heading } from '../parts/heading.js';
import { Failure } from '../parts/notes.js';
import { ask, RequestError } from '../state/api.js';
import { deviceName, keepDeviceToken, knownDevice } from '../state/device.js';
import { keepLoginKey } from '../state/loginkey.js';
import { type LoginEnd, lastLoginEnd, startUserSession } from '../state/session.js';
import { useObservable } from '../state/store.js';

/** Passkey, password with an optional code, or a new account. */
export const LoginView = () => {
  const end = useObservable(lastLoginEnd);
  const [isNew, setNew] = useState(false);
  return (
    <main class="login" id="main">
      <Heading title={isNew ? 'New account' : 'Log in'}>Adjutant</Heading>
      <p class="muted">at {location.host}</p>
      {end && <LastLoginEnd end={end} />}
      {isSecureContext ? (
        <>
          {isNew ? <NewAccountForm /> : <AccountLogin />}
          <p>
            <button type="button" class="link" onClick={() => setNew(!isNew)}>
              {isNew ? 'Log in with an account' : 'Create an account'}
            </button>
          </p>
        </>
      ) : (
        <HttpsRequired />
      )}
    </main>
  );
};

const LastLoginEnd = ({ end }: { end: LoginEnd }) =>
  end.isOwn ? (
    <p class="note" role="status">
      You are logged out.
    </p>
  ) : (
    <p class="note warn" role="status">
      {end.reason}. Log in again to continue.
    </p>
  );

/** The daemon refuses such a login too (src/http/pagelogin.ts), so no password is asked for. */
const HttpsRequired = () => (
  <p class="note warn" role="status">
    From other machines you can log in only over https, because others could read a password or a
    cookie sent over http. Open the https address of this page, or set up a tunnel:{' '}
    <code>adjutant tunnel setup</code>
  </p>
);

const AccountLogin = () => {
  const [wantsCode, setWantsCode] = useState(false);
  const action = useAction();
  const submit = async (fields: FormData): Promise<void> => {
    const username = getFormText(fields, 'username');
    const totpCode = getFormText(fields, 'code').trim();
    try {
      const body = {
        username,
        password: getFormText(fields, 'password'),
        device: deviceName(),
        ...(totpCode && { totpCode }),
        ...knownDevice(username),
      };
      enter(await ask('POST', '/api/auth/login', { body }), username);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== 'totp_required') throw error;
      setWantsCode(true);
      document.getElementById('code')?.focus();
      throw error;
    }
  };
  return (
    <>
      <button type="button" class="main" onClick={() => void action.run(usePasskey)}>
        Log in with a passkey
      </button>
      <Form submit={(fields) => action.run(() => submit(fields))} label="Log in">
        <Field name="username" label="Username or e-mail" complete="username" />
        <Field name="password" label="Password" type="password" complete="current-password" />
        {wantsCode && <Field name="code" label="Authenticator code" complete="one-time-code" />}
      </Form>
      {action.error && <Failure error={action.error} />}
      <p>
        <a href="/sso">Log in with single sign-on</a>
      </p>
    </>
  );
};

const NewAccountForm = () => {
  const action = useAction();
  const submit = async (fields: FormData): Promise<void> => {
    const username = getFormText(fields, 'username');
    const setupCode = getFormText(fields, 'setup').trim();
    const password = getFormText(fields, 'password');
    const body = { username, password, device: deviceName(), ...(setupCode && { setupCode }) };
    enter(await ask('POST', '/api/auth/register', { body }), username);
  };
  return (
    <>
      <p>
        The first account is the admin of this daemon. If other machines can reach the daemon, the
        first account needs the setup code, which is in the file <code>setup-code</code> in its home
        folder. Later accounts need an invite, unless registration is open to everybody.
      </p>
      <Form submit={(fields) => action.run(() => submit(fields))} label="Create the account">
        <Field name="username" label="Username" complete="username" />
        <Field name="password" label="Password" type="password" complete="new-password" />
        <Field name="setup" label="Setup code (if required)" complete="off" isOptional />
      </Form>
      {action.error && <Failure error={action.error} />}
    </>
  );
};

const usePasskey = async (): Promise<void> => {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const path = '/api/auth/passkey/authenticate';
  const { options, challengeId } = await ask('POST', path, { body: {} });
  const { response, ...credential } = await startAuthentication({ optionsJSON: Object(options) });
  const body = {
    challengeId,
    response: { ...credential, response: { ...response, userHandle: response.userHandle ?? '' } },
    device: deviceName(),
    ...knownDevice(),
  };
  const { user, token, deviceToken } = await ask('POST', path, { body });
  if (user && token) enter({ user, token, deviceToken }, user.username);
};

/** The reply contains the login key in place of the token. */
const enter = (
  { user, token, deviceToken }: Pick<Login, 'user' | 'token' | 'deviceToken'>,
  typed: string,
): void => {
  keepLoginKey(token);
  if (deviceToken) keepDeviceToken([typed, user.username], deviceToken);
  startUserSession(user);
};

const getFormText = (fields: FormData, name: string): string => String(fields.get(name) ?? '');

const Form = ({
  submit,
  label,
  children,
}: {
  submit(fields: FormData): Promise<void>;
  label: string;
  children: ComponentChildren;
}) => (
  <form
    onSubmit={(event) => {
      event.preventDefault();
      void submit(new FormData(event.currentTarget));
    }}
  >
    {children}
    <button type="submit">{label}</button>
  </form>
);

const Field = ({
  name,
  label,
  type = 'text',
  complete,
  isOptional = false,
}: {
  name: string;
  label: string;
  type?: string;
  complete: string;
  isOptional?: boolean;
}) => (
  <label>
    {label}
    <input
      id={name}
      name={name}
      type={type}
      autocomplete={complete}
      autocapitalize="none"
      spellcheck={false}
      required={!isOptional}
    />
  </label>
);
