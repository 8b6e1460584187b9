/** Coming in, and coming back after the dashboard was started anew. */

export const door = [
  ["leads back to where one was, when it was started anew", async ({ page, begin }) => {
    const first = await begin("--port", "0");
    const other = await page.context().browser().newPage();
    const place = `${first.address}/#/memory`;
    await other.goto(first.url);
    await other.getByRole("navigation", { name: "Pages" }).waitFor();
    await other.goto(place);
    await other.getByRole("heading", { name: "Memory" }).waitFor();
    await first.end();
    const second = await begin("--port", new URL(first.address).port);
    await other.getByText("Open the dashboard again from").waitFor();
    await other.reload();
    await other.getByText("To come in, open the address").waitFor();
    await other.goto(second.url);
    await other.waitForURL(place);
    await other.getByRole("heading", { name: "Memory" }).waitFor();
    await other.close();
    await second.end();
  }],
];
