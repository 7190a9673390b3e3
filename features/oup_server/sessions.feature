@v1alpha1
Feature: Sessions

  @OUP-KEY-001 @OUP-KEY-002 @OUP-KEY-003 @OUP-KEY-004 @OUP-KEY-007 @OUP-KEY-009 @OUP-KEY-010 @OUP-KEY-011
  Scenario: What a key says
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule        | call           | params                                                                             | ends                                                                              |
      | OUP-KEY-001 | session/open   | {"session_id":"«base»#one#two","topic":"three"}                                    | result {"opened":{"session_id":"«base»#three"}}                                   |
      | OUP-KEY-002 | session/open   | {"session_id":"cli:local:«base»"}                                                  | result {"opened":{"session_id":"cli:local:«base»"}}                               |
      | OUP-KEY-002 | session/open   | {"session_id":"nobody:nothing:«base»"}                                             | result                                                                            |
      | OUP-KEY-002 | session/open   | {"session_id":"nobody-at-all:local:x"}                                             | error invalid_params kind profile_unresolved                                      |
      | OUP-KEY-003 | session/open   | {"session_id":"web-«unique»"}                                                           | result {"opened":{"session_id":"web-«unique»"}}                                        |
      | OUP-KEY-004 | session/open   | {"session_id":"«base»#one","topic":"two"}                                          | result {"opened":{"session_id":"«base»#two"}}                                     |
      | OUP-KEY-004 | session/open   | {"session_id":"«base»#one","topic":"  "}                                           | result {"opened":{"session_id":"«base»#one"}}                                     |
      | OUP-KEY-007 | session/open   | {"session_id":"«session»","profile_id":""}                                         | error invalid_params                                                              |
      | OUP-KEY-009 | session/open   | {"session_id":"_main:local:x","profile_id":"nobody-at-all"}                        | error invalid_params data {"kind":"«absent»","expected_profile_id":"«text»"}      |
      | OUP-KEY-010 | session/open   | {"session_id":"«session»","profile_id":"nobody-at-all"}                            | error invalid_params kind profile_unresolved data {"profile_id":"nobody-at-all"}  |
      | OUP-KEY-011 | turn/interrupt | {"session_id":"nobody-at-all:local:x","turn_id":"«uuid»"}                          | error invalid_params kind profile_unresolved                                      |

  @OUP-KEY-005
  Scenario: Methods that take no topic pass it over
    Given a connection
    And a session
    When the client calls session/hydrate with {"session_id":"«session»","topic":"another","include":["turns"]}
    Then the answer is {"session_id":"«session»"}

  @OUP-KEY-006 @websocket
  Scenario: Events are told to those alone who opened their topic
    Given a connection
    And a session with {"topic":"one"}
    And a connection "second"
    When the client calls session/open with {"session_id":"«base»"}
    And a turn starts that says something
    And the client turns to connection "first"
    Then the turn ends completed
    When the client turns to connection "second"
    Then no event projection/envelope comes
    And no frame breaks a rule of this scenario

  @OUP-PROGRESS-005
  Scenario: Events have the topic of their key
    Given a connection
    And a session with {"topic":"one"}
    When a turn starts that says something
    Then the event turn/started comes with {"topic":"one"}
    And the turn ends completed

  @OUP-KEY-012 @OUP-OPEN-002 @OUP-OPEN-003 @OUP-OPEN-004
  Scenario: Workspaces are judged before they are used
    Given a connection
    Then each of these calls ends so:
      | rule         | call         | params                                                                   | ends                                                                    |
      | OUP-OPEN-004 | session/open | {"session_id":"local:w1-«unique»","cwd":"«workspace»/nothing"}                    | error invalid_params kind cwd_not_accessible                            |
      | OUP-OPEN-004 | session/open | {"session_id":"local:w2-«unique»","cwd":"«workspace»/a-file"}                            | error invalid_params kind cwd_not_directory                             |
      | OUP-OPEN-004 | session/open | {"session_id":"local:w3-«unique»","cwd":"/etc"}                                   | error invalid_params kind cwd_system_path_banned                        |
      | OUP-KEY-012  | session/open | {"session_id":"local:w4-«unique»","cwd":"«workspace»/../../../../../../../etc"}   | error invalid_params kind cwd_system_path_banned                        |
      | OUP-OPEN-003 | session/open | {"session_id":"local:w5-«unique»","cwd":"   "}                                    | result                                                                  |
      | OUP-OPEN-002 | client_hello | {"supported_features":["approval.typed.v1"]}                             | result                                                                  |
      | OUP-OPEN-002 | session/open | {"session_id":"local:w6-«unique»","cwd":"«workspace»"}                            | error invalid_params kind feature_required data {"feature":"session.workspace_cwd.v1"} |
      | OUP-OPEN-002 | session/open | {"session_id":"local:w7-«unique»","sandbox":{"enabled":true}}                     | error invalid_params kind feature_required data {"feature":"session.sandbox.v1"}       |
      | OUP-OPEN-003 | session/open | {"session_id":"local:w8-«unique»","cwd":"  "}                                     | result                                                                  |

  @OUP-OPEN-001 @OUP-REPLAY-005 @OUP-REPLAY-014 @OUP-REPLAY-015 @OUP-LEDGER-001 @OUP-LEDGER-014
  Scenario: An open makes a session and tells of it
    Given a connection
    When the client calls session/open with {"session_id":"local:fresh-«unique»"}
    Then the answer is {"opened":{"session_id":"local:fresh-«unique»","cursor":{"stream":"local:fresh-«unique»","seq":"«integer»"}}}
    And "opened.cursor" of the answer is remembered as "first"
    And "opened.active_profile_id" of the answer is remembered as "profile"
    And the event session/open comes once with {"session_id":"local:fresh-«unique»","cursor":"«first»","active_profile_id":"«profile»"}
    When the client calls session/open with {"session_id":"local:fresh-«unique»"}
    Then the event session/open comes once with {"session_id":"local:fresh-«unique»"}
    And no frame breaks a rule of this scenario

  @OUP-OPEN-007
  Scenario: The first workspace stays
    Given a connection
    When the client calls session/open with {"session_id":"local:where-«unique»","cwd":"«workspace»"}
    Then "opened.workspace_root" of the answer is remembered as "root"
    When the client calls session/open with {"session_id":"local:where-«unique»","cwd":"«workspace»/.."}
    Then the answer is {"opened":{"workspace_root":"«root»"}}

  @OUP-OPEN-008
  Scenario: An open that fails attaches nothing
    Given a connection
    And a session
    When the client calls session/open with {"session_id":"local:not-there-«unique»","after":{"stream":"another","seq":0}}
    Then the error is cursor_invalid
    And no event warning comes
    And no frame breaks a rule of this scenario
    When the client calls session/hydrate with {"session_id":"local:not-there-«unique»"}
    Then the error is unknown_session

  @OUP-OPEN-009 @OUP-OPEN-010 @OUP-OPEN-011 @OUP-OPEN-012
  Scenario: Commands that a client declares
    Given a connection
    Then each of these calls ends so:
      | rule         | call         | params                                                                                                                            | ends                                                              |
      | OUP-OPEN-009 | session/open | {"session_id":"local:c-«unique»","client_commands":["look","a b","","«repeat 33 x»","look","other-1"]}                                    | result {"opened":{"accepted_client_commands":["«has look»","«has other-1»"]}} |
      | OUP-OPEN-010 | session/open | {"session_id":"local:c-«unique»","client_commands":["reset","queue","mine"]}                                                              | result {"opened":{"accepted_client_commands":["«has mine»"]}}           |
      | OUP-OPEN-011 | session/open | {"session_id":"local:c-«unique»","client_commands":["a b"]}                                                                                | result {"opened":{"accepted_client_commands":[]}}                 |
      | OUP-OPEN-011 | session/open | {"session_id":"local:c-«unique»"}                                                                                                          | result {"opened":{"accepted_client_commands":"«absent»"}}         |
      | OUP-OPEN-012 | session/open | {"session_id":"local:c-«unique»","client_commands":["one"]}                                                                                | result {"opened":{"accepted_client_commands":["«has one»"]}}            |
      | OUP-OPEN-012 | session/open | {"session_id":"local:c-«unique»","client_commands":["two"]}                                                                                | result {"opened":{"accepted_client_commands":["«has two»"]}}            |

  @OUP-SESSION-001 @OUP-SESSION-002 @OUP-SESSION-004 @OUP-SESSION-006 @OUP-SESSION-019
  Scenario: What is listed
    Given a connection
    And a session
    When the client calls session/open with {"session_id":"local:there-«unique»","cwd":"«workspace»"}
    Then each of these calls ends so:
      | rule            | call                | params                           | ends                                                            |
      | OUP-SESSION-001 | session/list        | {}                               | result {"sessions":"«list»","workspace_root":"«absent»"}        |
      | OUP-SESSION-001 | session/list        | null                             | result {"sessions":"«list»"}                                    |
      | OUP-SESSION-002 | session/list        | {"cwd":"«workspace»"}            | result {"workspace_root":"«text»","profile_id":"«text»"}        |
      | OUP-SESSION-004 | session/list        | {}                               | result {"sessions":["«some»",{"id":"«session»","message_count":0}]} |
      | OUP-SESSION-006 | session/snapshot    | {"session_id":"«session»"}       | result {"status":{"active":false},"files":"«list»","tasks":"«list»"} |
      | OUP-SESSION-006 | session/snapshot    | {"session_id":"local:nobody"}    | error unknown_session                                           |
      | OUP-SESSION-019 | session/status/read | {"session_id":"«session»"}       | result {"model":"«absent or whole model»"}                      |

  @OUP-SESSION-005
  Scenario: A list of one workspace needs its feature
    Given a connection that names "auxiliary.rest_to_ws.v1"
    When the client calls session/list with {"cwd":"«workspace»"}
    Then the error is invalid_params of kind feature_required with {"feature":"session.workspace_cwd.v1"}

  @OUP-SESSION-007 @OUP-SESSION-008 @OUP-SESSION-009 @OUP-SESSION-010 @OUP-SESSION-011 @OUP-SESSION-012
  Scenario: Pages of messages
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/messages_page with {"session_id":"«session»"}
    Then "messages.0.seq" of the answer is remembered as "zero"
    And "messages.1.seq" of the answer is remembered as "one"
    And each of these calls ends so:
      | rule            | call                  | params                                                         | ends                                                                                                         |
      | OUP-SESSION-007 | session/messages_page | {"session_id":"«session»","limit":1}                           | result {"messages":[{"role":"user"}],"has_more":true}                                                        |
      | OUP-SESSION-007 | session/messages_page | {"session_id":"«session»"}                                     | result {"messages":"«ascending seq»"}                                                                        |
      | OUP-SESSION-008 | session/messages_page | {"session_id":"«session»","limit":100000}                      | result {"messages":"«list»"}                                                                                 |
      | OUP-SESSION-008 | session/messages_page | {"session_id":"«session»","limit":0}                           | error invalid_params                                                                                         |
      | OUP-SESSION-009 | session/messages_page | {"session_id":"«session»","offset":100000}                     | result {"messages":[],"has_more":false}                                                                      |
      | OUP-SESSION-010 | session/messages_page | {"session_id":"«session»","since_seq":"«zero»","offset":0,"limit":1} | result {"messages":[{"seq":"«one»"}]}                                                                  |
      | OUP-SESSION-011 | session/messages_page | {"session_id":"«session»","offset":50}                         | result {"messages":[],"has_more":false}                                                                      |
      | OUP-SESSION-012 | session/messages_page | {"session_id":"«session»","offset":1,"limit":2}                | result {"next_offset":3,"has_more":true}                                                                     |

  @OUP-SESSION-014 @OUP-SESSION-016
  Scenario: Titles and deletes
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule            | call              | params                                                       | ends                                            |
      | OUP-SESSION-014 | session/title.set | {"session_id":"«session»","title":"  a title  "}             | result {"title":"a title"}                      |
      | OUP-SESSION-014 | session/title.set | {"session_id":"«session»","title":"   "}                     | error invalid_params                            |
      | OUP-SESSION-014 | session/title.set | {"session_id":"«session»","title":"«repeat 201 x»"}          | error invalid_params                            |
      | OUP-SESSION-014 | session/title.set | {"session_id":"«session»","title":"«repeat 200 ä»"}          | result                                          |
      | OUP-SESSION-016 | session/delete    | {"session_id":"local:nobody"}                                | error unknown_session kind unknown_session      |
      | OUP-SESSION-016 | session/delete    | {"session_id":"«session»"}                                   | result                                          |
      | OUP-SESSION-016 | session/delete    | {"session_id":"«session»"}                                   | error unknown_session                           |

  @OUP-SESSION-017
  Scenario: A delete interrupts what runs
    Given a connection
    And a session
    When a turn starts that takes long
    Then the turn has said something
    When the client calls session/delete with {"session_id":"«session»"}
    Then the answer is {}
    And the turn ends interrupted

  @OUP-SESSION-018 @OUP-LEDGER-001 @OUP-TURN-008
  Scenario: A session that comes again is a fresh one whose numbers go on
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    And "cursor.seq" of the event is remembered as "last"
    When the client calls session/delete with {"session_id":"«session»"}
    And the client calls session/open with {"session_id":"«session»"}
    Then the answer is {"opened":{"cursor":{"seq":"«above last»"}}}
    And each of these calls ends so:
      | rule            | call                  | params                                                                                            | ends                                          |
      | OUP-SESSION-018 | session/messages_page | {"session_id":"«session»"}                                                                        | result {"messages":[]}                        |
      | OUP-TURN-008    | turn/start            | {"session_id":"«session»","turn_id":"«turn»","input":[{"kind":"text","text":"Again."}]}           | error invalid_request kind turn_id_in_use     |

  @OUP-TASK-001 @OUP-TASK-003 @OUP-TASK-007 @OUP-TASK-008
  Scenario: Tasks that are not there
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule         | call        | params                                                 | ends                                                              |
      | OUP-TASK-001 | task/list   | {"session_id":"local:nobody"}                          | result {"tasks":"«absent or empty»"}                              |
      | OUP-TASK-003 | task/list   | {"session_id":"«session»","topic":"one"}               | result {"session_id":"«session»","topic":"one"}                   |
      | OUP-TASK-007 | task/cancel | {"task_id":"«uuid»"}                                   | error invalid_params                                              |
      | OUP-TASK-008 | task/cancel | {"session_id":"«session»","task_id":"«uuid»"}          | error unknown_task_id kind unknown_task data {"task_id":"«uuid»"} |
