import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { dayOf, daysUpTo, keyOf, MINUTES, minuteOf, pieces } from "../pages/views/timeline/days";

const HOME = process.env.TZ;

/** Node reads the time zone anew once it is set. */
function live(zone: string): void {
  process.env.TZ = zone;
}

afterEach(() => {
  if (HOME === undefined) Reflect.deleteProperty(process.env, "TZ");
  else process.env.TZ = HOME;
});

function parts(from: string, to: string): [string, number, number][] {
  return pieces(new Date(from), new Date(to)).map((piece) => [piece.day, piece.from, piece.to]);
}

test("days are counted back by the calendar, also where one is shorter", () => {
  live("Europe/Berlin");
  const keys = daysUpTo(new Date("2026-03-30T10:00:00"), 3).map(({ key }) => key);
  assert.deepEqual(keys, ["2026-03-30", "2026-03-29", "2026-03-28"]);
  const weekend = daysUpTo(new Date("2026-11-16T10:00:00"), 4).map((day) => day.isWeekend);
  assert.deepEqual(weekend, [false, true, true, false]);
});

test("days do not slip where midnight does not exist", () => {
  live("America/Sao_Paulo");
  const keys = daysUpTo(new Date("2018-11-05T10:00:00"), 3).map(({ key }) => key);
  assert.deepEqual(keys, ["2018-11-05", "2018-11-04", "2018-11-03"]);
  assert.deepEqual(
    pieces(new Date("2018-11-03T23:00:00"), new Date("2018-11-04T02:00:00")).map(({ day }) => day),
    ["2018-11-03", "2018-11-04"],
  );
});

test("a session within a day is one piece", () => {
  live("UTC");
  assert.deepEqual(pieces(new Date("2026-11-16T09:30:00Z"), new Date("2026-11-16T11:00:00Z")), [
    { day: "2026-11-16", from: 570, to: 660, isStart: true, isEnd: true },
  ]);
});

test("a session across midnight is a piece of each day", () => {
  live("UTC");
  const [evening, night] = pieces(
    new Date("2026-11-15T22:30:00Z"),
    new Date("2026-11-16T01:15:00Z"),
  );
  assert.deepEqual(evening, {
    day: "2026-11-15",
    from: 1350,
    to: MINUTES,
    isStart: true,
    isEnd: false,
  });
  assert.deepEqual(night, { day: "2026-11-16", from: 0, to: 75, isStart: false, isEnd: true });
});

test("what ends at midnight does not touch the next day", () => {
  live("UTC");
  const found = pieces(new Date("2026-11-15T22:00:00Z"), new Date("2026-11-16T00:00:00Z"));
  assert.deepEqual(found, [
    { day: "2026-11-15", from: 1320, to: MINUTES, isStart: true, isEnd: true },
  ]);
});

test("the same moment is another day elsewhere", () => {
  const moment = new Date("2026-11-16T22:30:00Z");
  const seen = ["Asia/Tokyo", "America/New_York", "Asia/Kolkata"].map((zone) => {
    live(zone);
    return `${keyOf(moment)} ${minuteOf(moment)}`;
  });
  assert.deepEqual(seen, ["2026-11-17 450", "2026-11-16 1050", "2026-11-17 240"]);
});

test("the night the clock is set forward shows what the clock showed", () => {
  live("Europe/Berlin");
  // From 1:30 to 3:30 by the clock, one hour by the sun.
  assert.deepEqual(parts("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"), [
    ["2026-03-29", 90, 210],
  ]);
});

test("the night the clock is set back has no block that ends before it begins", () => {
  live("Europe/Berlin");
  // From 2:50 to 2:10 by the clock, twenty minutes by the sun.
  assert.deepEqual(parts("2026-10-25T00:50:00Z", "2026-10-25T01:10:00Z"), [
    ["2026-10-25", 170, 170],
  ]);
  assert.equal(dayOf(new Date("2026-10-25T12:00:00Z"), 1).key, "2026-10-26");
});

test("a record that ends before it begins is a moment", () => {
  live("UTC");
  assert.deepEqual(parts("2026-11-16T10:00:00Z", "2026-11-16T09:00:00Z"), [
    ["2026-11-16", 600, 600],
  ]);
});
