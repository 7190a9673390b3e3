Feature: A host is asked about the session in front
  What the person sees and what the session holds is changed for its owner alone. A bound is a refusal, not a cut.

  @0.2 @0.4 @EXT04-COMPOSER-005 @EXT04-COMPOSER-006 @EXT04-COMPOSER-007 @EXT04-COMPOSER-008 @EXT04-COMPOSER-013 @EXT04-ERR-006
  Scenario: The composer
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | composer/set | {"parent_request_id":«call»,"text":"conform text"} | result | EXT04-COMPOSER-005 |
      | composer/get | {"parent_request_id":«call»} | result {"text":"conform text"} | EXT04-COMPOSER-005 |
      | composer/insert | {"parent_request_id":«call»,"text":"!"} | result | EXT04-COMPOSER-005 |
      | composer/set | {"parent_request_id":«call»,"text":"«repeat 262145 t»"} | token bounds_exceeded | EXT04-COMPOSER-006 |
      | composer/insert | {"parent_request_id":«call»,"text":"«repeat 262145 t»"} | token bounds_exceeded | EXT04-ERR-006 |
      | composer/set | {"parent_request_id":«call»,"text":"half \\ud800"} | token invalid_request | EXT04-COMPOSER-007 |
      | composer/set | {"parent_request_id":«call»,"text":"bold \\u001b[1m"} | token invalid_request | EXT04-COMPOSER-007 |
      | composer/get | {"parent_request_id":«initialize»,"resource_owner":{"session_id":"conform-foreign","extension_instance_id":"conform-foreign","process_generation":1}} | token not_foreground_owner | EXT04-COMPOSER-008 |
      | composer/get | {"parent_request_id":«initialize»} | token not_foreground_owner | EXT04-ERR-006 |
      | composer/get | {} | token invalid_request | EXT04-ERR-006 |
      | composer/history | {"parent_request_id":«call»,"resource_owner":«owner»,"entries":["newest","oldest"]} | result | EXT04-COMPOSER-013 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-OWNER-012 @EXT04-OWNER-013 @EXT04-OWNER-014 @EXT04-OWNER-018
  Scenario: Owners beside a parent, and in its place
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | composer/get | {"parent_request_id":«call»,"resource_owner":{"session_id":"conform-foreign","extension_instance_id":"conform-foreign","process_generation":1}} | result | EXT04-OWNER-012 |
      | composer/get | {"parent_request_id":«initialize»,"resource_owner":«owner»} | result | EXT04-OWNER-013 |
      | composer/get | {"parent_request_id":«initialize»} | token not_foreground_owner | EXT04-OWNER-014 |
      | composer/get | {"parent_request_id":«initialize»,"resource_owner":{"session_id":"conform-foreign","extension_instance_id":"conform-foreign","process_generation":1}} | token not_foreground_owner | EXT04-OWNER-014 |
      | composer/get | {"parent_request_id":«initialize»,"resource_owner":{"session_id":"conform","extension_instance_id":"conform"}} | error | EXT04-OWNER-018 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-OWNER-016
  Scenario: Asks on behalf of a call that was cancelled
    Given a sound extension
    When it asks once a call is cancelled
      | method | params | answer | rule |
      | composer/get | {"parent_request_id":«call»,"resource_owner":«owner»} | token not_foreground_owner | EXT04-OWNER-016 |
      | session/append_entry | {"parent_request_id":«call»,"resource_owner":«owner»,"entry_type":"conform","data":null} | token not_foreground_owner | EXT04-OWNER-016 |
      | session/send_message | {"parent_request_id":«call»,"resource_owner":«owner»,"role":"assistant","text":"cancelled"} | token not_foreground_owner | EXT04-OWNER-016 |
    Then the host answers as wanted
    And the call was cancelled once

  @0.4 @EXT04-COMPACT-004 @EXT04-OWNER-015
  Scenario: Session control and agents on behalf of a call that was cancelled
    Given a sound extension
    When it asks once a call is cancelled
      | method | params | answer | rule |
      | session/reload | {"parent_request_id":«call»,"resource_owner":«owner»} | token not_foreground_owner | EXT04-OWNER-015 |
      | session/compact | {"parent_request_id":«call»,"resource_owner":«owner»} | token not_foreground_owner | EXT04-COMPACT-004 |
    Then the host answers as wanted
    And the call was cancelled once

  @0.4 @EXT04-COMPOSER-009 @EXT04-COMPOSER-010 @EXT04-COMPOSER-011 @EXT04-COMPOSER-012
  Scenario: An editor of the extension
    Given a sound extension
    And it selects "composer, remote_ui"
    When it asks during a call
      | method | params | answer | rule |
      | ui/open | {"parent_request_id":«call»,"surface_id":"editor","title":"Editor","placement":"editor"} | result |  |
      | composer/set | {"parent_request_id":«call»,"text":"bare"} | token invalid_request | EXT04-COMPOSER-009 |
      | composer/insert | {"parent_request_id":«call»,"text":"bare"} | token invalid_request | EXT04-COMPOSER-009 |
      | composer/insert | {"parent_request_id":«call»,"resource_owner":«owner»,"text":"insert","editor_checkpoint":{"surface_id":"editor","mount_id":«from 1 editor_mount_id»,"input_revision":0,"checkpoint_revision":1}} | token invalid_request | EXT04-COMPOSER-010 |
      | composer/set | {"parent_request_id":«call»,"resource_owner":«owner»,"text":"unknown","editor_checkpoint":{"surface_id":"editor","mount_id":«from 1 editor_mount_id»,"input_revision":0,"checkpoint_revision":1,"more":1}} | token invalid_request | EXT04-COMPOSER-012 |
      | composer/set | {"parent_request_id":«call»,"resource_owner":«owner»,"text":"missing","editor_checkpoint":{"surface_id":"editor","mount_id":«from 1 editor_mount_id»,"checkpoint_revision":1}} | token invalid_request | EXT04-COMPOSER-012 |
      | composer/set | {"parent_request_id":«call»,"resource_owner":«owner»,"text":"never issued","editor_checkpoint":{"surface_id":"editor","mount_id":«from 1 editor_mount_id»,"input_revision":9,"checkpoint_revision":1}} | token invalid_request | EXT04-COMPOSER-012 |
      | composer/set | {"parent_request_id":«call»,"resource_owner":«owner»,"text":"sound","editor_checkpoint":{"surface_id":"editor","mount_id":«from 1 editor_mount_id»,"input_revision":0,"checkpoint_revision":1}} | result {"input_revision":0,"checkpoint_revision":1} | EXT04-COMPOSER-011 |
      | composer/set | {"parent_request_id":«call»,"resource_owner":«owner»,"text":"again","editor_checkpoint":{"surface_id":"editor","mount_id":«from 1 editor_mount_id»,"input_revision":0,"checkpoint_revision":1}} | token invalid_request | EXT04-COMPOSER-012 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-ENTRY-002 @EXT04-ENTRY-003 @EXT04-ENTRY-004
  Scenario: Entries, names and labels
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | session/append_entry | {"parent_request_id":«call»,"entry_type":"conform.entry","data":{"n":1}} | result | EXT04-ENTRY-002 |
      | session/set_name | {"parent_request_id":«call»,"name":"Conform"} | result | EXT04-ENTRY-003 |
      | session/set_name | {"parent_request_id":«call»,"name":""} | result | EXT04-ENTRY-003 |
      | session/set_label | {"parent_request_id":«call»,"entry_id":«from 1 entry_id»,"label":"mark"} | result | EXT04-ENTRY-003 |
      | session/set_label | {"parent_request_id":«call»,"entry_id":«from 1 entry_id»,"label":""} | result | EXT04-ENTRY-003 |
      | session/append_entry | {"parent_request_id":«call»,"entry_type":"«repeat 129 e»","data":null} | token bounds_exceeded | EXT04-ENTRY-004 |
      | session/append_entry | {"parent_request_id":«call»,"entry_type":"conform","data":"«repeat 65536 d»"} | token bounds_exceeded | EXT04-ENTRY-004 |
      | session/set_name | {"parent_request_id":«call»,"name":"«repeat 4097 n»"} | token bounds_exceeded | EXT04-ENTRY-004 |
      | session/set_label | {"parent_request_id":«call»,"entry_id":"«repeat 257 i»","label":"mark"} | token bounds_exceeded | EXT04-ENTRY-004 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-INJECT-002 @EXT04-INJECT-003 @EXT04-INJECT-004
  Scenario: Messages in another voice
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | session/send_message | {"parent_request_id":«call»,"role":"assistant","text":"said"} | result | EXT04-INJECT-002 |
      | session/send_message | {"parent_request_id":«call»,"role":"user","text":"said"} | token invalid_request | EXT04-INJECT-003 |
      | session/send_message | {"parent_request_id":«call»,"role":"tool","text":"said"} | token invalid_request | EXT04-INJECT-003 |
      | session/send_message | {"parent_request_id":«call»,"role":"system","text":"«repeat 262145 t»"} | token bounds_exceeded | EXT04-INJECT-004 |
      | session/send_user_message | {"parent_request_id":«call»,"text":"«repeat 262145 u»"} | token bounds_exceeded | EXT04-INJECT-004 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-ACTIVE-002 @EXT04-ACTIVE-003 @EXT04-ACTIVE-004
  Scenario: Active tools
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | tools/set_active | {"parent_request_id":«call»,"names":["ask","echo"]} | result | EXT04-ACTIVE-002 |
      | tools/set_active | {"parent_request_id":«call»,"names":["ask","no_such_tool"]} | token invalid_request | EXT04-ACTIVE-003 |
      | tools/set_active | {"parent_request_id":«call»,"names":[«list 257 "t%d"»]} | token bounds_exceeded | EXT04-ACTIVE-004 |
      | tools/set_active | {"parent_request_id":«call»,"names":["«repeat 129 t»"]} | token bounds_exceeded | EXT04-ACTIVE-004 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-TERM-002 @EXT04-TERM-003 @EXT04-TERM-005
  Scenario: The terminal
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | terminal/release | {"parent_request_id":«call»,"first":true} | token invalid_request | EXT04-TERM-003 |
      | terminal/acquire | {"parent_request_id":«call»,"first":true} | result or token not_foreground_owner or token invalid_request | EXT04-TERM-002 |
      | terminal/acquire | {"parent_request_id":«call»,"second":true} | token invalid_request or token not_foreground_owner | EXT04-TERM-003 |
      | terminal/release | {"parent_request_id":«call»,"second":true} | result or token not_foreground_owner or token invalid_request | EXT04-TERM-005 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-COMPLETE-005
  Scenario: Completion
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | ui/autocomplete/register | {"revision":1} | result {"accepted":true} or error | EXT04-COMPLETE-005 |
      | ui/autocomplete/register | {"parent_request_id":«call»,"revision":2} | result {"accepted":true} or error | EXT04-COMPLETE-005 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-ORDER-013 @EXT04-SHORTCUT-004 @EXT04-SHORTCUT-005
  Scenario: Shortcuts
    Given a sound extension
    And it selects "shortcuts"
    When it asks before initialize is answered
      | method | params | answer | rule |
      | shortcut/register | {"parent_request_id":«initialize»,"id":"one","key":"ctrl+alt+1","description":"One."} | result | EXT04-SHORTCUT-004 |
      | shortcut/register | {"parent_request_id":«initialize»,"id":"one","key":"ctrl+alt+2","description":"Again."} | error | EXT04-SHORTCUT-005 |
      | shortcut/register | {"parent_request_id":99,"id":"two","key":"ctrl+alt+2","description":"Foreign."} | error | EXT04-SHORTCUT-005 |
      | session/set_name | {"parent_request_id":«initialize»,"name":"Early"} | token unsupported_feature | EXT04-ORDER-013 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-SHORTCUT-005
  Scenario: Shortcuts behind initialize
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | shortcut/register | {"parent_request_id":«initialize»,"id":"late","key":"ctrl+alt+3","description":"Late."} | error | EXT04-SHORTCUT-005 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.2 @0.4 @EXT04-SHORTCUT-005
  Scenario: More shortcuts than a process may register
    Given a sound extension
    When it asks before initialize is answered
      | times | method | params | answer |
      | 64 | shortcut/register | {"parent_request_id":«initialize»,"id":"s-«n»","key":"ctrl+alt+«n»","description":"Many."} | result or error |
      | 1 | shortcut/register | {"parent_request_id":«initialize»,"id":"one-more","key":"ctrl+alt+9","description":"One more."} | error |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-SESSION-003 @EXT04-SESSION-004 @EXT04-SESSION-005 @EXT04-SESSION-010
  Scenario: Sessions
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | session/wait_for_idle | {"parent_request_id":«call»} | result or nothing | EXT04-SESSION-003 |
      | session/create | {"parent_request_id":«call»} | result or nothing | EXT04-SESSION-004 |
      | session/fork | {"parent_request_id":«call»} | result or nothing | EXT04-SESSION-004 |
      | session/switch | {"parent_request_id":«call»,"session_id":"conform-session"} | result {"session_id":"conform-session"} or error or nothing | EXT04-SESSION-005 |
      | session/reload | {"parent_request_id":«call»} | result or nothing | EXT04-SESSION-005 |
      | session/create | {"parent_request_id":«call»,"conform":1} | token invalid_request | EXT04-SESSION-010 |
      | session/create | {"parent_request_id":«call»,"session_id":"conform"} | token invalid_request | EXT04-SESSION-010 |
      | session/switch | {"parent_request_id":«call»} | token invalid_request | EXT04-SESSION-010 |
    Then the host answers as wanted
    And the host says what the tool said

  @0.4 @EXT04-COMPACT-004 @EXT04-COMPACT-005 @EXT04-COMPACT-006
  Scenario: Compaction
    Given a sound extension
    When it asks during a call
      | method | params | answer | rule |
      | session/compact | {"parent_request_id":«call»,"resource_owner":«owner»} | token invalid_request | EXT04-COMPACT-004 |
      | session/compact | {"parent_request_id":«initialize»,"resource_owner":«owner»,"custom_instructions":" \\n"} | result or error internal_error | EXT04-COMPACT-006 |
      | session/compact | {"parent_request_id":«initialize»,"resource_owner":«owner»,"custom_instructions":"«repeat 16385 c»"} | token bounds_exceeded | EXT04-COMPACT-006 |
      | session/compact | {"parent_request_id":«initialize»,"resource_owner":«owner»,"custom_instructions":"Keep names."} | result or error internal_error | EXT04-COMPACT-005 |
    Then the host answers as wanted
    And the host says what the tool said
