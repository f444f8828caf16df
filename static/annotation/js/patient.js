// The patient so far and what is to be looked at, kept up to date with the parts that a save sends. Pure.

const key = (slot, value) => `${slot}\u0000${value}`;

/**
 * The state after a save. `groups` are what the page has, `parts` what came, `touched` the entries that a change may
 * have moved as [slot, value] (null: everything came). Entries keep the order in which they were first named.
 */
export function mergedState(groups, parts, touched, slotOrder) {
  if (!touched) return parts;
  const moved = new Set(touched.entries.map(([slot, value]) => key(slot, value)));
  const merged = new Map();
  for (const group of groups) {
    const entries = group.entries.filter((entry) => !moved.has(key(group.slot, entry.value)));
    merged.set(group.slot, { ...group, entries });
  }
  for (const group of parts) {
    const before = merged.get(group.slot)?.entries || [];
    merged.set(group.slot, { ...group, entries: [...before, ...group.entries].sort((a, b) => a.since - b.since) });
  }
  return [...merged.values()].filter((group) => group.entries.length).sort((a, b) => slotOrder.indexOf(a.slot) - slotOrder.indexOf(b.slot));
}

/** The same for contradictions (they belong to entries) and incomplete labels (they belong to utterances). */
export function mergedProblems(problems, parts, touched) {
  if (!touched) return parts;
  const moved = new Set(touched.entries.map(([slot, value]) => key(slot, value)));
  const positions = new Set(touched.positions);
  const kept = problems.filter((problem) => (problem.entry ? !moved.has(key(...problem.entry)) : !positions.has(problem.position)));
  return [...kept, ...parts].sort((a, b) => a.position - b.position);
}
