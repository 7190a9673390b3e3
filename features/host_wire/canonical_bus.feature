@0.3
Feature: A host of the canonical wire has a bus
  What a declaration, a subscription or a publication deserves is decided before anything is passed on.

  @EXT03-BUS-015 @EXT03-BUS-016 @EXT03-BUS-017 @EXT03-BUS-020 @EXT03-BUS-021 @EXT03-BUS-023 @EXT03-BUS-024 @EXT03-BUS-025 @EXT03-BUS-026 @EXT03-BUS-027
  Scenario: Bindings and topics
    Given an extension with the script
      """
      select event_bus bus/lifecycle bus/declare bus/subscribe bus/unsubscribe bus/publish bus/event
      on bus/lifecycle
      ask no-binding bus/subscribe {"topic":"bus.peer.news"}
      ask number-binding bus/subscribe {"binding_id":7,"topic":"bus.peer.news"}
      ask empty-binding bus/subscribe {"binding_id":"","topic":"bus.peer.news"}
      ask long-binding bus/subscribe {"binding_id":"«repeat 257 b»","topic":"bus.peer.news"}
      ask other-binding bus/subscribe {"binding_id":"other","topic":"bus.peer.news"}
      ask binding-first bus/declare {"binding_id":"other","topic":7}
      ask model-second bus/publish {"binding_id":"«binding»","topic":"bus.peer.none","payload":{},"more":1}
      ask no-prefix bus/subscribe {"binding_id":"«binding»","topic":"news"}
      ask two-parts bus/subscribe {"binding_id":"«binding»","topic":"bus.peer"}
      ask pattern bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.*"}
      ask capital bus/declare {"binding_id":"«binding»","topic":"bus.peer.News","fields":[]}
      ask long-part bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.«repeat 65 n»"}
      ask long-topic bus/subscribe {"binding_id":"«binding»","topic":"bus.«repeat 60 o».«repeat 60 n»"}
      ask foreign bus/declare {"binding_id":"«binding»","topic":"bus.other.news","fields":[]}
      ask good bus/declare {"binding_id":"«binding»","topic":"bus.peer.news","fields":[]}
      wait
      ask again bus/declare {"binding_id":"«binding»","topic":"bus.peer.news","fields":[]}
      ask foreign-again bus/declare {"binding_id":"«binding»","topic":"bus.other.news","fields":[]}
      asks 127 t-%d bus/declare {"binding_id":"«binding»","topic":"bus.peer.t-%d","fields":[]}
      wait
      ask one-more bus/declare {"binding_id":"«binding»","topic":"bus.peer.more","fields":[]}
      ask again-when-full bus/declare {"binding_id":"«binding»","topic":"bus.peer.news","fields":[]}
      wait
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "event_bus"
    Then the extension is answered
      | request         | answer                     | rule          |
      | no-binding      | error invalid_params       | EXT03-BUS-023 |
      | number-binding  | error invalid_params       | EXT03-BUS-023 |
      | empty-binding   | error invalid_params       | EXT03-BUS-023 |
      | long-binding    | error invalid_params       | EXT03-BUS-023 |
      | other-binding   | error capability_mismatch  | EXT03-BUS-024 |
      | binding-first   | error capability_mismatch  | EXT03-BUS-025 |
      | model-second    | error invalid_params       | EXT03-BUS-025 |
      | no-prefix       | error invalid_params       | EXT03-BUS-026 |
      | two-parts       | error invalid_params       | EXT03-BUS-026 |
      | pattern         | error invalid_params       | EXT03-BUS-021 |
      | capital         | error invalid_params       | EXT03-BUS-020 |
      | long-part       | error invalid_params       | EXT03-BUS-020 |
      | long-topic      | error resource_exhausted   | EXT03-BUS-026 |
      | foreign         | error capability_mismatch  | EXT03-BUS-027 |
      | good            | result                     | EXT03-BUS-021 |
      | again           | error invalid_params       | EXT03-BUS-027 |
      | foreign-again   | error capability_mismatch  | EXT03-BUS-027 |
      | t-126           | result                     | EXT03-BUS-027 |
      | one-more        | error resource_exhausted   | EXT03-BUS-027 |
      | again-when-full | error invalid_params       | EXT03-BUS-027 |
    And the host sent "bus/lifecycle" with
      | member                   | value     | rule          |
      | /params/kind             | "binding" | EXT03-BUS-017 |
      | /params/binding_revision | 1         | EXT03-BUS-016 |

  @EXT03-BUS-028 @EXT03-BUS-029 @EXT03-BUS-030 @EXT03-BUS-031 @EXT03-MODEL-001 @EXT03-MODEL-004
  Scenario: Fields of topics
    Given an extension with the script
      """
      select event_bus bus/lifecycle bus/declare bus/subscribe bus/unsubscribe bus/publish bus/event
      on bus/lifecycle
      ask forbidden bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"string","max_bytes":9,"name":"api-key","required":false,"values":[]}]}
      ask hidden bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"string","max_bytes":9,"name":"my_pass_word_s","required":false,"values":[]}]}
      ask fields bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[«list 25 {"kind":"boolean","max_bytes":9,"name":"f%d","required":false,"values":[]}»]}
      ask values bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"enum","max_bytes":9,"name":"a","required":false,"values":[«list 33 "v%d"»]}]}
      ask long-value bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"enum","max_bytes":3,"name":"a","required":false,"values":["four"]}]}
      ask screened bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"enum","max_bytes":30,"name":"a","required":false,"values":["/etc/hosts"]}]}
      ask twice bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[«list 2 {"kind":"boolean","max_bytes":9,"name":"f","required":false,"values":[]}»]}
      ask no-values bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"enum","max_bytes":9,"name":"a","required":false,"values":[]}]}
      ask turned bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"integer","max_bytes":9,"maximum":1,"minimum":2,"name":"a","required":false,"values":[]}]}
      ask bounds-of-text bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[{"kind":"string","max_bytes":9,"minimum":2,"name":"a","required":false,"values":[]}]}
      ask unlisted bus/declare {"binding_id":"«binding»","topic":"bus.peer.a","fields":[],"more":1}
      ask unlisted-first bus/subscribe {"binding_id":"«binding»","topic":"bus.«repeat 60 o».«repeat 60 n»","more":1}
      wait
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "event_bus"
    Then the extension is answered
      | request        | answer                   | rule            |
      | forbidden      | error invalid_params     | EXT03-BUS-028   |
      | hidden         | error invalid_params     | EXT03-BUS-028   |
      | fields         | error resource_exhausted | EXT03-BUS-029   |
      | values         | error resource_exhausted | EXT03-BUS-029   |
      | long-value     | error resource_exhausted | EXT03-BUS-031   |
      | screened       | error invalid_params     | EXT03-BUS-030   |
      | twice          | error invalid_params     | EXT03-BUS-029   |
      | no-values      | error invalid_params     | EXT03-BUS-029   |
      | turned         | error invalid_params     | EXT03-BUS-029   |
      | bounds-of-text | error invalid_params     | EXT03-BUS-029   |
      | unlisted       | error invalid_params     | EXT03-MODEL-004 |
      | unlisted-first | error invalid_params     | EXT03-MODEL-001 |

  @EXT03-BUS-014 @EXT03-BUS-015 @EXT03-BUS-030 @EXT03-BUS-031 @EXT03-BUS-032 @EXT03-BUS-034 @EXT03-BUS-035 @EXT03-BUS-036 @EXT03-BUS-037 @EXT03-BUS-038 @EXT03-BUS-039 @EXT03-BUS-040 @EXT03-PUBLISH-002 @EXT03-PUBLISH-003 @EXT03-PUBLISH-005 @EXT03-PUBLISH-006 @EXT03-PUBLISH-007 @EXT03-PUBLISH-008 @EXT03-PUBLISH-013 @EXT03-PUBLISH-014
  Scenario: Subscriptions and publications
    Given an extension with the script
      """
      select event_bus bus/lifecycle bus/declare bus/subscribe bus/unsubscribe bus/publish bus/event
      on bus/lifecycle
      ask pending bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      wait
      ask declared bus/declare {"binding_id":"«binding»","topic":"bus.peer.news","fields":[{"kind":"string","max_bytes":16,"name":"title","required":true,"values":[]},{"kind":"integer","max_bytes":9,"maximum":10,"minimum":0,"name":"count","required":false,"values":[]},{"kind":"boolean","max_bytes":9,"name":"urgent","required":false,"values":[]},{"kind":"enum","max_bytes":9,"name":"mood","required":false,"values":["good","bad"]}]}
      ask big bus/declare {"binding_id":"«binding»","topic":"bus.peer.big","fields":[«list 9 {"kind":"string","max_bytes":1024,"name":"f%d","required":false,"values":[]}»]}
      wait
      on bus/lifecycle
      ask not-an-object bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":[]}
      ask unknown-key bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"x","more":1}}
      ask wrong-type bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":7}}
      ask null bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"x","count":null}}
      ask other-value bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"x","mood":"odd"}}
      ask out-of-range bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"x","count":11}}
      ask missing bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"count":1}}
      ask many-keys bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{«list 25 "k%d":1»}}
      ask long-text bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"«repeat 17 x»"}}
      ask path bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"~/secrets"}}
      ask mail bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"a@b.c"}}
      ask phone bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"+1 555 123-456"}}
      ask key bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"sk-abcdefghij"}}
      ask bearer bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"Bearer x"}}
      ask control bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"a\tb"}}
      ask undeclared bus/publish {"binding_id":"«binding»","topic":"bus.peer.none","payload":{}}
      ask too-big bus/publish {"binding_id":"«binding»","topic":"bus.peer.big","payload":{"f0":"«repeat 1000 x»","f1":"«repeat 1000 x»","f2":"«repeat 1000 x»","f3":"«repeat 1000 x»","f4":"«repeat 1000 x»","f5":"«repeat 1000 x»","f6":"«repeat 1000 x»","f7":"«repeat 1000 x»","f8":"«repeat 1000 x»"}}
      wait
      ask unheard bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"unheard"}}
      wait
      ask active bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      ask heard bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"heard"}}
      wait
      on bus/event
      ask active-again bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      ask left bus/unsubscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      ask left-again bus/unsubscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      wait
      ask alone bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{"title":"alone"}}
      wait
      ask back bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      wait
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "event_bus"
    Then the extension is answered
      | request       | answer                                 | rule              |
      | pending       | result {"state":"pending","topic_revision":0} | EXT03-BUS-035 |
      | declared      | result                                 | EXT03-BUS-032     |
      | not-an-object | error invalid_params                   | EXT03-BUS-039     |
      | unknown-key   | error invalid_params                   | EXT03-BUS-039     |
      | wrong-type    | error invalid_params                   | EXT03-BUS-039     |
      | null          | error invalid_params                   | EXT03-BUS-039     |
      | other-value   | error invalid_params                   | EXT03-BUS-039     |
      | out-of-range  | error invalid_params                   | EXT03-BUS-039     |
      | missing       | error invalid_params                   | EXT03-BUS-039     |
      | many-keys     | error resource_exhausted               | EXT03-BUS-039     |
      | long-text     | error resource_exhausted               | EXT03-BUS-031     |
      | path          | error invalid_params                   | EXT03-BUS-030     |
      | mail          | error invalid_params                   | EXT03-BUS-030     |
      | phone         | error invalid_params                   | EXT03-BUS-030     |
      | key           | error invalid_params                   | EXT03-BUS-030     |
      | bearer        | error invalid_params                   | EXT03-BUS-030     |
      | control       | error invalid_params                   | EXT03-BUS-030     |
      | undeclared    | error invalid_params                   | EXT03-BUS-038     |
      | too-big       | error resource_exhausted               | EXT03-PUBLISH-008 |
      | unheard       | result {"sequence":1}                  | EXT03-PUBLISH-003 |
      | unheard       | result                                 | EXT03-PUBLISH-006 |
      | unheard       | result                                 | EXT03-BUS-040     |
      | active        | result {"state":"active","topic_revision":1} | EXT03-BUS-034 |
      | heard         | result {"sequence":2}                  | EXT03-PUBLISH-002 |
      | active-again  | result {"state":"active","topic_revision":1} | EXT03-BUS-036 |
      | left          | result                                 | EXT03-BUS-037     |
      | left-again    | result                                 | EXT03-BUS-037     |
      | alone         | result {"sequence":3}                  | EXT03-PUBLISH-002 |
    And the host sent "bus/lifecycle" for the 2nd time with
      | member                 | value             | rule          |
      | /params/kind           | "topic_available" | EXT03-BUS-032 |
      | /params/topic_revision | 1                 | EXT03-BUS-032 |
      | /params/binding_id     | the first binding | EXT03-BUS-015 |
    And the host sent "bus/event" with
      | member                  | value                    | rule              |
      | /params/publisher       | "peer"                   | EXT03-BUS-014     |
      | /params/sequence        | 2                        | EXT03-PUBLISH-007 |
      | /params/payload         | {"title":"heard"}        | EXT03-PUBLISH-007 |
      | /params/published_at_ms | the time in milliseconds | EXT03-PUBLISH-005 |
      | /params/binding_id      | the first binding        | EXT03-BUS-015     |
      | times                   | 1                        | EXT03-PUBLISH-013 |
    And the host answered "active" in front of "bus/event"

  @EXT03-BUS-033
  Scenario: Interests
    Given an extension with the script
      """
      select event_bus bus/lifecycle bus/declare bus/subscribe bus/event
      on bus/lifecycle
      asks 16 s-%d bus/subscribe {"binding_id":"«binding»","topic":"bus.other.t-%d"}
      wait
      ask one-more bus/subscribe {"binding_id":"«binding»","topic":"bus.other.more"}
      ask same bus/subscribe {"binding_id":"«binding»","topic":"bus.other.t-0"}
      wait
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "event_bus"
    Then the extension is answered
      | request  | answer                      |
      | s-15     | result {"state":"pending"} |
      | one-more | error resource_exhausted    |
      | same     | result {"state":"pending"} |

  @EXT03-BUS-033
  Scenario: A subscription without the event
    Given an extension with the script
      """
      select event_bus bus/lifecycle bus/subscribe
      on bus/lifecycle
      ask deaf bus/subscribe {"binding_id":"«binding»","topic":"bus.other.news"}
      wait
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "event_bus"
    Then the extension is answered
      | request | answer                    |
      | deaf    | error capability_mismatch |

  @EXT03-BUS-018
  Scenario: The bus without its notices
    Given an extension with the script
      """
      select event_bus bus/subscribe
      on tool/call
      say «answer»
      """
    When the host calls the tool "echo" in a session
    And the host offers the feature "event_bus"
    Then the tool was not called
    And nothing of the extension is left

  @EXT03-PUBLISH-020 @EXT03-PUBLISH-021 @EXT03-SESSION-005 @EXT03-SESSION-006 @EXT03-SESSION-012
  Scenario: A session that takes the place of another
    Given an extension with the script
      """
      select event_bus bus/lifecycle bus/declare bus/subscribe bus/publish bus/event session_lifecycle session/create session/switch session/reload
      on bus/lifecycle
      ask declared bus/declare {"binding_id":"«binding»","topic":"bus.peer.news","fields":[]}
      wait
      ask first bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{}}
      ask created session/create {}
      wait
      ask switched session/switch {"session_id":«of "created" /result/session_id»}
      wait
      on bus/lifecycle
      ask again bus/declare {"binding_id":"«binding»","topic":"bus.peer.news","fields":[]}
      wait
      ask second bus/publish {"binding_id":"«binding»","topic":"bus.peer.news","payload":{}}
      ask active bus/subscribe {"binding_id":"«binding»","topic":"bus.peer.news"}
      wait
      ask reloaded session/reload {}
      wait
      on bus/lifecycle
      on tool/call
      say «answer»
      """
    When the host serves the extension in a session
    And the host offers the feature "event_bus"
    And the host offers the feature "session_lifecycle"
    Then the extension is answered
      | request  | answer                     | rule              |
      | first    | result {"sequence":1}      | EXT03-PUBLISH-021 |
      | switched | result                     | EXT03-SESSION-005 |
      | again    | result                     | EXT03-PUBLISH-020 |
      | second   | result {"sequence":2}      | EXT03-PUBLISH-021 |
      | active   | result {"topic_revision":2} | EXT03-PUBLISH-021 |
      | reloaded | result                     | EXT03-SESSION-006 |
    And the host answered "switched" with the "session_id" of "created"
    And the host answered "reloaded" with the "session_id" of "created"
    And the host sent "bus/lifecycle" for the 2nd time with
      | member                   | value     | rule              |
      | /params/kind             | "binding" | EXT03-SESSION-012 |
      | /params/binding_revision | 2         | EXT03-PUBLISH-020 |
    And the host sent "bus/lifecycle" for the 3rd time with
      | member                   | value     | rule              |
      | /params/binding_revision | 3         | EXT03-SESSION-012 |
