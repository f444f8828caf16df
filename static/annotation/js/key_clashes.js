// Which actions would share a key. Pure, so that it can be tested without a page.

/** The keys an action takes: its own one or the usual ones; a slot takes the Shift variant too. */
export function taken(row) {
  const keys = row.own ? [row.own] : row.usual;
  return row.action.startsWith("slot:") ? [...keys, ...keys.map((key) => `Shift+${key}`)] : keys;
}

/** For each row {action, page, title, own, usual} that shares a key with another of its page: action → [{key, title of the other}]. */
export function clashes(rows) {
  const found = new Map();
  for (const row of rows) {
    for (const other of rows) {
      if (row === other || row.page !== other.page) continue;
      for (const key of taken(row).filter((candidate) => taken(other).includes(candidate))) {
        found.set(row.action, [...(found.get(row.action) ?? []), { key, title: other.title }]);
      }
    }
  }
  return found;
}
