import type { Statement } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { DeviceTokenRow, LoginPlaceRow } from '../../store/tables/accounts.js';

/** Ours: of one user; the one that ends first makes room. */
const MOST_DEVICES = 50;

/** Devices that a login in full came from, and the places that accounts were logged in from. */
export const devicesOf = ({ db }: Store) => ({
  isDevice: async ({ user_id, digest }: Omit<DeviceTokenRow, 'expires_at'>, now: string) => {
    const row = await db
      .selectFrom('device_tokens')
      .select('digest')
      .where('digest', '=', digest)
      .where('user_id', '=', user_id)
      .where('expires_at', '>', now)
      .executeTakeFirst();
    return row !== undefined;
  },

  /** One that is there already counts for longer. */
  keepDevice: (row: DeviceTokenRow): Statement[] => {
    const { digest, user_id, expires_at } = row;
    const kept = db
      .selectFrom('device_tokens')
      .select('digest')
      .where('user_id', '=', user_id)
      .orderBy('expires_at', 'desc')
      .orderBy('digest')
      .limit(MOST_DEVICES);
    const put = db
      .insertInto('device_tokens')
      .values(row)
      .onConflict((on) => on.column('digest').doUpdateSet({ expires_at }));
    const surplus = db
      .deleteFrom('device_tokens')
      .where('user_id', '=', user_id)
      .where('digest', '<>', digest)
      .where('digest', 'not in', kept);
    return [statement(put, 1), statement(surplus)];
  },

  forgetDevices: (userId: string): Statement =>
    statement(db.deleteFrom('device_tokens').where('user_id', '=', userId)),

  /** When the user was told of it; undefined: never. */
  placeTold: async ({ user_id, network, program }: Omit<LoginPlaceRow, 'told_at'>) => {
    const row = await db
      .selectFrom('login_places')
      .select('told_at')
      .where('user_id', '=', user_id)
      .where('network', '=', network)
      .where('program', '=', program)
      .executeTakeFirst();
    return row?.told_at;
  },

  keepPlace: (row: LoginPlaceRow): Statement => {
    const { told_at } = row;
    const put = db.insertInto('login_places').values(row);
    return statement(
      put.onConflict((on) =>
        on.columns(['user_id', 'network', 'program']).doUpdateSet({ told_at }),
      ),
      1,
    );
  },
});
