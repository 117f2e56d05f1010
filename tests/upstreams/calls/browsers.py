"""Calls of two servers that drive a browser."""

from tests.upstreams.calls.call import Call

__all__ = ["CHROME_DEVTOOLS", "PLAYWRIGHT"]

_LOOSE = ("durations", "stamps")
PLAYWRIGHT = (
    Call("browser_navigate", {"url": "{web}/"}, loose=_LOOSE),
    Call("browser_snapshot", loose=_LOOSE),
    Call("browser_find", {"text": "Lend"}, loose=_LOOSE),
    Call("browser_type", {"target": "#name", "element": "Name", "text": "Ada"}, loose=_LOOSE),
    Call("browser_select_option", {"target": "#branch", "values": ["South"]}, loose=_LOOSE),
    Call(
        "browser_fill_form",
        {
            "fields": [
                {"target": "#agreed", "element": "I agree", "name": "agreed", "type": "checkbox", "value": "true"}
            ]
        },
        loose=_LOOSE,
    ),
    Call("browser_click", {"target": "#lend", "element": "Lend", "doubleClick": False}, loose=_LOOSE),
    Call("browser_click", {"target": "#nowhere", "element": "Nothing"}, fails=True, loose=_LOOSE),
    Call("browser_verify_text_visible", {"text": "Lent to Ada"}, loose=_LOOSE),
    Call("browser_verify_text_visible", {"text": "Lent to nobody"}, fails=True, loose=_LOOSE),
    Call("browser_verify_element_visible", {"role": "button", "accessibleName": "Lend"}, loose=_LOOSE),
    Call("browser_console_messages", {"level": "info"}, loose=_LOOSE),
    Call("browser_evaluate", {"function": "() => ({title: document.title, list: [1, 2]})"}, loose=_LOOSE),
    Call("browser_evaluate", {"function": "() => { throw new Error('no') }"}, fails=True, loose=_LOOSE),
    Call("browser_hover", {"target": "#ask"}, loose=_LOOSE),
    Call("browser_press_key", {"key": "Tab"}, loose=_LOOSE),
    Call("browser_resize", {"width": 640, "height": 480}, loose=_LOOSE),
    Call("browser_mouse_click_xy", {"x": 5, "y": 5, "clickCount": 1}, loose=_LOOSE),
    Call("browser_mouse_wheel", {"deltaX": 0, "deltaY": 10}, loose=_LOOSE),
    Call("browser_emulate_media", {"colorScheme": "dark", "reducedMotion": None}, loose=_LOOSE),
    Call("browser_take_screenshot", {"scale": "css", "filename": "page.png"}, loose=(*_LOOSE, "bytes")),
    Call("browser_pdf_save", {"filename": "page.pdf"}, loose=_LOOSE),
    Call("browser_cookie_set", {"name": "a", "value": "1", "httpOnly": True, "sameSite": "Lax"}, loose=_LOOSE),
    Call("browser_cookie_list", loose=_LOOSE),
    Call("browser_cookie_get", {"name": "a"}, loose=_LOOSE),
    Call("browser_cookie_clear", loose=_LOOSE),
    Call("browser_localstorage_set", {"key": "k", "value": '{"v": 1}'}, loose=_LOOSE),
    Call("browser_localstorage_get", {"key": "k"}, loose=_LOOSE),
    Call("browser_localstorage_clear", loose=_LOOSE),
    Call("browser_route", {"pattern": "**/api", "status": 503, "contentType": "text/plain"}, loose=_LOOSE),
    Call("browser_route_list", loose=_LOOSE),
    Call("browser_unroute", loose=_LOOSE),
    Call("browser_network_requests", {"static": True}, loose=_LOOSE),
    Call("browser_generate_locator", {"target": "#lend"}, loose=_LOOSE),
    Call("browser_wait_for", {"text": "Lent to Ada"}, loose=_LOOSE),
    Call("browser_tabs", {"action": "new", "url": "{web}/second"}, loose=_LOOSE),
    Call("browser_tabs", {"action": "close", "index": 1}, loose=_LOOSE),
    Call("browser_run_code_unsafe", {"code": "async (page) => await page.title()"}, loose=_LOOSE),
    Call("browser_navigate", {"url": "{web}/second"}, loose=_LOOSE),
    Call("browser_navigate_back", loose=_LOOSE),
    Call("browser_close", loose=_LOOSE),
)
_ON = {"pageId": 1}
CHROME_DEVTOOLS = (
    Call("list_pages"),
    Call("navigate_page", {**_ON, "type": "url", "url": "{web}/"}),
    Call("take_snapshot", _ON),
    Call("take_snapshot", {**_ON, "verbose": True}),
    Call("evaluate_script", {**_ON, "function": "() => ({title: document.title})"}),
    Call("evaluate_script", {**_ON, "function": "() => { throw new Error('no') }"}, fails=True),
    Call("click", {**_ON, "uid": "99_99"}, fails=True),
    Call("list_console_messages", _ON),
    Call("list_network_requests", {**_ON, "resourceTypes": ["document"]}),
    Call("wait_for", {**_ON, "text": ["Lending desk"]}),
    Call("resize_page", {**_ON, "width": 600, "height": 400}),
    Call("take_screenshot", {**_ON, "format": "png"}, loose=("bytes",)),
    Call("new_page", {"url": "{web}/second"}),
    Call("select_page", {"pageId": 2, "bringToFront": True}),
    Call("close_page", {"pageId": 2}),
    Call("close_page", {"pageId": 1}),
)
